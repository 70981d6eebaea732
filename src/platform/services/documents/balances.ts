import { toUnrecorded } from "../../store/queries/document-balances.ts";
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

/** Whether a document is an open one of an earlier version: its balance was not recorded, and holds since its last change. */
const isUnrecorded = ({ status, balance_recorded_at }: Standing & Recorded): boolean =>
  status === "open" && balance_recorded_at === null;

/** Returns the columns that say since when the balance of a document is recorded. */
export const toRecorded = (
  before: (Standing & Recorded & Pick<DocumentRow, "updated_at">) | undefined,
  after: Standing,
  { at }: Event,
): Recorded => {
  const since = before !== undefined && isUnrecorded(before) ? before.updated_at : null;
  const knownFrom = before?.balance_known_from ?? since;
  if (before !== undefined && isSame(before, after)) {
    return {
      balance_known_from: knownFrom,
      balance_recorded_at: before.balance_recorded_at ?? since,
    };
  }
  return { balance_known_from: Math.min(knownFrom ?? at, at), balance_recorded_at: at };
};

/**
 * Returns the balances that a change adds to the history of its document; none if the balance is the same. The history
 * of a document of an earlier version begins with the balance before the change.
 */
export const listBalances = (
  before: DocumentRow | undefined,
  after: DocumentRow,
  event: Event,
): DocumentBalanceRow[] => {
  const first = before !== undefined && isUnrecorded(before) ? [toUnrecorded(before)] : [];
  if (before !== undefined && isSame(before, after)) {
    // A change of other fields moves the time since which the balance is known to hold.
    return after.version === before.version ? [] : first;
  }
  return [
    ...first,
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
