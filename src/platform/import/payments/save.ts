import type { Source } from "../../../contract/payments/catalogue.ts";
import {
  addPayments,
  findRowsOfPayments,
  type NewPayment,
  type StoredPayment,
  removePayments,
  replacePayments,
  takeSeqs,
} from "../../store/queries/payments.ts";
import { settlePayments } from "../../services/payments/matching/settle.ts";
import { TABLES } from "../../store/queries/payments/columns.ts";
import type { Db } from "../../store/port.ts";
import { omitEmpty } from "../bank/file.ts";
import type { Journal } from "../target.ts";
import { matchDocuments } from "./match.ts";
import { buildRowKey, deriveId, hashValues, type Values } from "./row.ts";

/** A payment with all of its rows, which replace those that it has in the store. */
export type WholePayment = {
  paymentId: string;
  rows: readonly Values[];
  /** Why it may repeat another payment. */
  doubt?: string;
  /** For a return: the payment that it takes back. */
  returnedPaymentId?: string;
};

export type SaveNeeds = { tenantId: string; source: Source; now: string };

/** A row of a payment beside the stored row that it replaces. */
type Paired = { id: string; values: Values; hash: string; before: StoredPayment | undefined };

/** Pairs rows with the stored ones of the payment: by their id, else in order, so that ids stay when details come. */
const pairRows = (
  { tenantId, source }: SaveNeeds,
  { paymentId, rows }: WholePayment,
  stored: readonly StoredPayment[],
): { paired: Paired[]; removed: StoredPayment[] } => {
  const met = new Map<string, number>();
  // Rows without the hash of what was sent are those that a return has beside its own.
  const sent = stored.filter((row) => row.sent_hash !== "");
  const left = new Map(sent.map((row) => [row.id, row]));
  const paired = rows.map((row): Paired => {
    const values = { ...row, paymentId };
    const key = buildRowKey(source, values);
    const count = (met.get(key) ?? 0) + 1;
    met.set(key, count);
    const id = deriveId(tenantId, source, key, count);
    const before = left.get(id);
    left.delete(id);
    return { id, values, hash: hashValues(values), before };
  });
  for (const one of paired) {
    if (one.before !== undefined) continue;
    const [next] = left.values();
    if (next === undefined) break;
    left.delete(next.id);
    one.id = next.id;
    one.before = next;
  }
  return { paired, removed: [...left.values()] };
};

/** Doubts and links that the service found are no part of the file, and stay when it is imported again. */
const keepFound = (
  { doubt, returnedPaymentId }: WholePayment,
  before: StoredPayment | undefined,
): Values =>
  omitEmpty({
    doubt: doubt ?? before?.["doubt"] ?? undefined,
    returnedPaymentId: returnedPaymentId ?? before?.["returned_payment_id"] ?? undefined,
  });

const isUnchanged = (paired: readonly Paired[], removed: readonly StoredPayment[]): boolean =>
  removed.length === 0 && paired.every(({ hash, before }) => before?.sent_hash === hash);

/**
 * Writes payments as a whole, matches their rows to documents, and records what changes. Returns the ids of the payments
 * that changed.
 */
export const savePayments = async (
  tx: Db,
  needs: SaveNeeds,
  payments: readonly WholePayment[],
  journal: Journal,
): Promise<Set<string>> => {
  const { tenantId, source, now } = needs;
  const ids = payments.map(({ paymentId }) => paymentId);
  const stored = await findRowsOfPayments(tx, tenantId, source, ids);
  const byPayment = Map.groupBy(stored, (row) => String(row["payment_id"]));
  const changed = new Set<string>();
  const sent: NewPayment[] = [];
  const gone: StoredPayment[] = [];
  for (const payment of payments) {
    const { paired, removed } = pairRows(needs, payment, byPayment.get(payment.paymentId) ?? []);
    if (isUnchanged(paired, removed)) continue;
    changed.add(payment.paymentId);
    gone.push(...removed);
    for (const { id, values, hash, before } of paired) {
      const own = { id, tenantId, createdAt: before?.created_at ?? now, updatedAt: now };
      const added = { ...values, ...keepFound(payment, before), ...own };
      sent.push({ tenantId, seq: before?.seq ?? 0, sentHash: hash, values: added });
    }
  }
  await removePayments(
    tx,
    source,
    tenantId,
    gone.map(({ seq }) => seq),
  );
  for (const row of gone) journal.removed(TABLES[source], row);
  const matched = await matchDocuments(tx, tenantId, sent);
  await storeRows(tx, needs, matched, { before: stored, journal });
  return changed;
};

/** Stores rows with their journal: those with the number 0 are new. Then settles what they change beyond themselves. */
export const storeRows = async (
  tx: Db,
  { tenantId, source, now }: SaveNeeds,
  rows: readonly NewPayment[],
  { before, journal }: { before: readonly StoredPayment[]; journal: Journal },
): Promise<void> => {
  const fresh = rows.filter(({ seq }) => seq === 0);
  let next = fresh.length === 0 ? 0 : await takeSeqs(tx, tenantId, source, fresh.length);
  const numbered = fresh.map((row) => ({ ...row, seq: next++ }));
  journal.created(TABLES[source], await addPayments(tx, source, numbered));
  const known = new Map(before.map((row) => [row.seq, row]));
  const changed = rows.filter(({ seq }) => seq > 0);
  for (const after of await replacePayments(tx, source, changed)) {
    const row = known.get(after.seq);
    if (row !== undefined) journal.changed(TABLES[source], row, after);
  }
  if (source === "cashapp") await settlePayments(tx, { tenantId, now }, [...numbered, ...changed]);
};
