import { putEntries } from "../../store/queries/payment-entries.ts";
import {
  findRowsOfPayments,
  putPaymentRows,
  type StoredPayment,
} from "../../store/queries/payments.ts";
import { TABLES } from "../../store/queries/payments/columns.ts";
import { fold } from "../../store/engine/fold.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables/schema.ts";
import type { Journal } from "../target.ts";
import { parsePaymentIds } from "./entry-facts.ts";
import { areDistinct, withoutDuplicate } from "./joining.ts";
import type { Judged } from "./judged.ts";
import type { SaveNeeds } from "./save.ts";

/** Returns a row without the doubt that it repeats another payment; other doubts stay. */
export const clearDuplicate = (row: StoredPayment, now: string): StoredPayment => {
  const doubt = withoutDuplicate(String(row["doubt"] ?? ""));
  return { ...row, doubt, doubt_folded: doubt === null ? null : fold(doubt), updated_at: now };
};

/** Returns a row with the doubt that it repeats another payment. */
export const addDuplicate = (row: StoredPayment, reason: string, now: string): StoredPayment => {
  const doubt = row["doubt"] === null ? reason : `${String(row["doubt"])}; ${reason}`;
  return { ...row, doubt, doubt_folded: fold(doubt), updated_at: now };
};

/** Takes the doubts about payments of the same file, which are certain now, out of its report. */
export const reportSettled = (
  entries: readonly PaymentEntryRow[],
  rows: readonly StoredPayment[],
  journal: Journal,
): void => {
  const own = new Set(entries.flatMap(parsePaymentIds));
  for (const row of rows) {
    const paymentId = String(row["payment_id"]);
    if (!own.delete(paymentId)) continue;
    const [currencyCode, amount] = [String(row["currency_code"]), Number(row["payment_amount"])];
    journal.settle({ paymentId, currencyCode, amount });
  }
};

const rootIdOf = ({ id, joined_to: root }: PaymentEntryRow): string => root ?? id;

type Member = Pick<Judged, "facts">["facts"];

/** Collects the entries about each money: those of the store, and those of the batch that join them. */
const groupByRoot = (
  judged: readonly Judged[],
  candidates: readonly PaymentEntryRow[],
): Map<string, Member[]> => {
  const groups = new Map<string, Member[]>();
  const add = (root: string, entry: Member): void =>
    void groups.set(root, [...(groups.get(root) ?? []), entry]);
  for (const row of candidates) add(rootIdOf(row), row);
  for (const { facts, known, verdict } of judged) {
    if (known === undefined && verdict.as === "joined") add(verdict.root.id, facts);
  }
  return groups;
};

/**
 * Finds doubtful payments that entries of a batch show to be different: a message has entries of its own for both, or
 * messages about one of them contradict those about the other.
 */
const findDistinct = (
  judged: readonly Judged[],
  candidates: readonly PaymentEntryRow[],
): PaymentEntryRow[] => {
  const joined = new Set(
    judged.flatMap(({ verdict }) => (verdict.as === "joined" ? [verdict.root.id] : [])),
  );
  if (joined.size === 0) return [];
  const open = candidates.filter(({ doubt }) => doubt === "open");
  if (open.length === 0) return [];
  const byId = new Map(candidates.map((row) => [row.id, row]));
  const groups = groupByRoot(judged, candidates);
  return open.filter((row) => {
    const like = byId.get(row.doubt_of ?? "");
    if (like === undefined) return false;
    const roots = [row.id, rootIdOf(like)];
    if (!roots.some((root) => joined.has(root))) return false;
    const [mine = [], theirs = []] = roots.map((root) => groups.get(root));
    return mine.some((one) => theirs.some((other) => areDistinct(one, other)));
  });
};

/**
 * Settles doubts that the entries of a batch decide: entries of one message are different payments. Returns the entries
 * with the settled ones that they are joined to.
 */
export const settleDistinct = async (
  tx: Db,
  { tenantId, source, now }: SaveNeeds,
  { judged, candidates }: { judged: readonly Judged[]; candidates: readonly PaymentEntryRow[] },
  own: ReadonlySet<string>,
  journal: Journal,
): Promise<readonly Judged[]> => {
  const settled = new Map<string, PaymentEntryRow>();
  for (const before of findDistinct(judged, candidates)) {
    const after = { ...before, doubt: "different" as const };
    settled.set(before.id, after);
    journal.changed("payment_entries", before, after);
  }
  if (settled.size === 0) return judged;
  const entries = [...settled.values()];
  await putEntries(tx, entries);
  const rows = await findRowsOfPayments(tx, tenantId, source, entries.flatMap(parsePaymentIds));
  const cleared = rows.map((before) => {
    const after = clearDuplicate(before, now);
    journal.changed(TABLES[source], before, after);
    return after;
  });
  await putPaymentRows(tx, source, cleared);
  reportSettled(
    entries.filter(({ id }) => own.has(id)),
    rows,
    journal,
  );
  return judged.map((one) => {
    const root = one.verdict.as === "joined" ? settled.get(one.verdict.root.id) : undefined;
    return root === undefined ? one : { ...one, verdict: { as: "joined", root } };
  });
};
