import { putEntries } from "../../store/payment-entries.ts";
import { findRowsOfPayments, putPaymentRows, type StoredPayment } from "../../store/payments.ts";
import { TABLES } from "../../store/payments/columns.ts";
import { fold } from "../../store/fold.ts";
import type { Db } from "../../store/port.ts";
import type { PaymentEntryRow } from "../../store/tables.ts";
import type { Journal } from "../target.ts";
import { parsePaymentIds } from "./entry-facts.ts";
import { withoutDuplicate } from "./joining.ts";
import type { Judged } from "./judged.ts";
import type { SaveNeeds } from "./save.ts";

/** Returns a row without the doubt that it repeats another payment; other doubts stay. */
export const clearDuplicate = (row: StoredPayment, now: string): StoredPayment => {
  const doubt = withoutDuplicate(String(row["doubt"] ?? ""));
  return { ...row, doubt, doubt_folded: doubt === null ? null : fold(doubt), updated_at: now };
};

const rootIdOf = ({ id, joined_to: root }: PaymentEntryRow): string => root ?? id;

/** Finds doubtful payments of which a message has entries of their own beside those that they may repeat. */
const findDistinct = (
  judged: readonly Judged[],
  candidates: readonly PaymentEntryRow[],
): PaymentEntryRow[] => {
  const byId = new Map(candidates.map((row) => [row.id, row]));
  const described = new Set<string>();
  const add = (message: string, root: string): void => void described.add(`${message} ${root}`);
  for (const row of candidates) add(row.message, rootIdOf(row));
  for (const { facts, verdict } of judged) {
    if (verdict.as === "joined") add(facts.message, verdict.root.id);
  }
  return judged.flatMap(({ facts, verdict }) => {
    if (verdict.as !== "joined" || verdict.root.doubt !== "open") return [];
    const like = byId.get(verdict.root.doubt_of ?? "");
    const isDistinct = like !== undefined && described.has(`${facts.message} ${rootIdOf(like)}`);
    return isDistinct ? [verdict.root] : [];
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
  return judged.map((one) => {
    const root = one.verdict.as === "joined" ? settled.get(one.verdict.root.id) : undefined;
    return root === undefined ? one : { ...one, verdict: { as: "joined", root } };
  });
};
