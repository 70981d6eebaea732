import type { BalanceCause, DocumentBalanceRow, DocumentRow } from "../../store/tables/schema.ts";

type Standing = Pick<DocumentRow, "status" | "balance" | "balance_currency">;
type Recorded = Pick<DocumentRow, "balance_known_from" | "balance_recorded_at">;

/** The time from which a balance holds, and whether an import wrote it. */
export type Event = { at: number; isImport: boolean };

const toOwed = ({ status, balance }: Standing): number | null =>
  status === "closed" ? 0 : balance;

const isSame = (before: Standing, after: Standing): boolean =>
  before.status === after.status &&
  toOwed(before) === toOwed(after) &&
  before.balance_currency === after.balance_currency;

const toCause = (
  before: Standing | undefined,
  after: Standing,
  { isImport }: Event,
): BalanceCause => {
  if (before !== undefined && before.status !== after.status)
    return after.status === "closed" ? "closed" : "reopened";
  if (isImport) return "imported";
  return before === undefined ? "created" : "changed";
};

/** Returns the columns that say since when the balance of a document is recorded. */
export const toRecorded = (
  before: (Standing & Recorded) | undefined,
  after: Standing,
  { at }: Event,
): Recorded => {
  if (before !== undefined && isSame(before, after)) {
    const { balance_known_from, balance_recorded_at } = before;
    return { balance_known_from, balance_recorded_at };
  }
  return {
    balance_known_from: Math.min(before?.balance_known_from ?? at, at),
    balance_recorded_at: at,
  };
};

/** Returns the balance that a change adds to the history of its document; none if the balance is the same. */
export const listBalances = (
  before: DocumentRow | undefined,
  after: DocumentRow,
  event: Event,
): DocumentBalanceRow[] => {
  if (before !== undefined && isSame(before, after)) return [];
  return [
    {
      tenant_id: after.tenant_id,
      document_number: after.document_number,
      version: after.version,
      recorded_at: event.at,
      status: after.status,
      balance: toOwed(after),
      currency: after.balance_currency,
      cause: toCause(before, after, event),
    },
  ];
};
