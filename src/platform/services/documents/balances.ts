import { toUnrecorded } from "../../store/queries/document-balances.ts";
import type { BalanceCause, DocumentBalanceRow, DocumentRow } from "../../store/tables/schema.ts";

type Standing = Pick<DocumentRow, "status" | "balance" | "balance_currency">;

/** The columns that say since when the balance of a document is recorded, and what was before it. */
export type Recorded = Pick<
  DocumentRow,
  | "balance_known_from"
  | "balance_recorded_at"
  | "former_at"
  | "former_status"
  | "former_balance"
  | "former_currency"
>;

/** What was before the present balance is not known from the document's own row. */
export const NO_FORMER = {
  former_at: null,
  former_status: null,
  former_balance: null,
  former_currency: null,
} as const satisfies Partial<Recorded>;

/** Returns the columns of a document that say since when its balance is recorded, and what was before it. */
export const getRecorded = (row: Recorded): Recorded => ({
  balance_known_from: row.balance_known_from,
  balance_recorded_at: row.balance_recorded_at,
  former_at: row.former_at,
  former_status: row.former_status,
  former_balance: row.former_balance,
  former_currency: row.former_currency,
});

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
const isUnrecorded = ({
  status,
  balance_recorded_at,
}: Pick<DocumentRow, "status" | "balance_recorded_at">): boolean =>
  status === "open" && balance_recorded_at === null;

/** Returns the columns of {@link Recorded} after a change. */
export const toRecorded = (
  before: (Standing & Recorded & Pick<DocumentRow, "updated_at">) | undefined,
  after: Standing,
  { at }: Event,
): Recorded => {
  if (before === undefined)
    return { balance_known_from: at, balance_recorded_at: at, ...NO_FORMER };
  const since = isUnrecorded(before) ? before.updated_at : null;
  const recordedAt = before.balance_recorded_at ?? since;
  const knownFrom = before.balance_known_from ?? since;
  if (isSame(before, after)) {
    return {
      ...getRecorded(before),
      balance_known_from: knownFrom,
      balance_recorded_at: recordedAt,
    };
  }
  const recorded = { balance_known_from: Math.min(knownFrom ?? at, at), balance_recorded_at: at };
  if (recordedAt === null) return { ...recorded, ...NO_FORMER };
  return {
    ...recorded,
    former_at: recordedAt,
    former_status: before.status,
    former_balance: toOwed(before),
    former_currency: before.balance_currency,
  };
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
