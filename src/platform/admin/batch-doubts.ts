import Big from "big.js";
import { Problem } from "../../contract/errors.ts";
import { describeMoney, shiftDay } from "../import/payments/joining.ts";
import { isAdvice, parsePaymentIds } from "../import/payments/entry-facts.ts";
import {
  addUp,
  BATCH_DAYS,
  collectParts,
  COMPLETE_DETAIL,
  findPart,
  isMoney,
  isSmaller,
  type Part,
} from "../import/payments/parts.ts";
import { clearDuplicate } from "../import/payments/distinct.ts";
import { SETTLED } from "../import/payments/work.ts";
import { matchRows } from "../services/payments/matching/match.ts";
import { settlePayments } from "../services/payments/matching/settle.ts";
import { findEntriesByAmount, findPartsOf, putEntries } from "../store/queries/payment-entries.ts";
import { readPaymentRows } from "../store/queries/payment-matching.ts";
import { findRowsOfPayments, putPaymentRows, replacePayments } from "../store/queries/payments.ts";
import type { Db } from "../store/port.ts";
import type { PaymentEntryRow } from "../store/tables/schema.ts";

/** Removes payments; their returns become those of another payment. */
export type Remove = (removed: {
  tenantId: string;
  paymentIds: readonly string[];
  heir: string | undefined;
}) => Promise<void>;

type Settling = { tx: Db; now: string; remove: Remove };

const setAmount = async (
  { tx, now }: Settling,
  { tenantId, paymentId, amount }: { tenantId: string; paymentId: string; amount: Big },
): Promise<void> => {
  const stored = await readPaymentRows(tx, tenantId, [paymentId]);
  const reduced = stored.map((row) => ({
    ...row,
    values: { ...row.values, paymentAmount: amount.toNumber(), updatedAt: now },
  }));
  const matched = await matchRows(tx, tenantId, reduced, { isStored: true });
  await replacePayments(tx, "cashapp", matched);
  await settlePayments(tx, { tenantId, now }, matched);
};

const clearDoubts = async (
  { tx, now }: Settling,
  tenantId: string,
  paymentIds: readonly string[],
): Promise<void> => {
  const rows = await findRowsOfPayments(tx, tenantId, "cashapp", paymentIds);
  await putPaymentRows(
    tx,
    "cashapp",
    rows.map((row) => clearDuplicate(row, now)),
  );
};

/** Leaves to an undivided batch what its known payments leave of it. Returns the batch as it is then. */
const divide = async (
  settling: Settling,
  batch: PaymentEntryRow,
  parts: readonly PaymentEntryRow[],
): Promise<PaymentEntryRow> => {
  const { tenant_id: tenantId, amount, currency } = batch;
  const [paymentId = ""] = parsePaymentIds(batch);
  const known = { amount: addUp(parts).toFixed(), currency };
  const left = new Big(amount).minus(known.amount);
  if (isSmaller(batch, known)) {
    throw new Problem(
      "conflict",
      `The batch is ${describeMoney(batch)}, and its payments would be ${describeMoney(known)}: not all of them can be its parts. Settle one of them as different first.`,
    );
  }
  const ids = parts.flatMap(parsePaymentIds);
  if (left.eq(0)) {
    await settling.remove({ tenantId, paymentIds: [paymentId], heir: ids[0] });
    return {
      ...batch,
      ...SETTLED,
      payment_ids: JSON.stringify(ids),
      detail: COMPLETE_DETAIL,
      waits: null,
    };
  }
  await clearDoubts(settling, tenantId, [paymentId]);
  await setAmount(settling, { tenantId, paymentId, amount: left });
  return { ...batch, ...SETTLED };
};

/** Finds the payments of a batch that are stored as entries of their own, one to one. */
const pairParts = async (tx: Db, batch: PaymentEntryRow, parts: readonly Part[]) => {
  const found = await findEntriesByAmount(tx, batch.tenant_id, {
    currency: batch.currency,
    amounts: [...new Set(parts.map(({ amount }) => amount.toFixed()))],
    from: shiftDay(batch.day, -BATCH_DAYS),
    to: shiftDay(batch.day, BATCH_DAYS),
  });
  const left = [...parts];
  const pairs: { part: Part; single: PaymentEntryRow }[] = [];
  for (const single of found) {
    const isOther = isMoney(single) && single.kind !== batch.kind && single.part_of === null;
    if (!isOther || single.account !== batch.account) continue;
    const part = findPart(single, batch, left);
    if (part === undefined) continue;
    left.splice(left.indexOf(part), 1);
    pairs.push({ part, single });
  }
  return pairs;
};

/** Removes the payments of a batch that are stored as entries of their own, and keeps the others. */
const removePairs = async (settling: Settling, batch: PaymentEntryRow) => {
  const { tx, remove } = settling;
  const { tenant_id: tenantId } = batch;
  const ids = parsePaymentIds(batch);
  const parts = collectParts(await findRowsOfPayments(tx, tenantId, "cashapp", ids));
  const pairs = await pairParts(tx, batch, parts);
  if (pairs.length === 0) return undefined;
  const others = new Map<string, string>();
  for (const { part, single } of pairs) {
    const [heir = ""] = parsePaymentIds(single);
    await remove({ tenantId, paymentIds: [part.paymentId], heir });
    others.set(part.paymentId, heir);
  }
  const left = ids.filter((id) => !others.has(id));
  await clearDoubts(settling, tenantId, left);
  await putEntries(
    tx,
    pairs.map(({ single }) => ({ ...single, part_of: batch.id })),
  );
  const payment_ids = JSON.stringify(ids.map((id) => others.get(id) ?? id));
  return { ...batch, ...SETTLED, payment_ids, detail: COMPLETE_DETAIL };
};

/** Whether a payment is one of those that the bank has within an entry. */
const isOneOfSeveral = (batch: PaymentEntryRow, paymentId: string): boolean => {
  const ids = parsePaymentIds(batch);
  return ids.length > 1 && ids.includes(paymentId);
};

/**
 * Settles as the same an entry that has another amount than the one that it may repeat: one of them is a batch, or each
 * has something that the other has not. Money that only one of them has stays. Returns the entries that change.
 *
 * @throws {Problem} conflict if no reference shows what both have
 */
export const settlePart = async (
  settling: Settling,
  entry: PaymentEntryRow,
  like: PaymentEntryRow,
): Promise<PaymentEntryRow[]> => {
  const { tx } = settling;
  const { tenant_id: tenantId } = entry;
  const paymentId = entry.doubt_payment_id ?? "";
  if (isAdvice(entry) && isOneOfSeveral(like, paymentId)) {
    await settling.remove({ tenantId, paymentIds: parsePaymentIds(entry), heir: paymentId });
    return [{ ...entry, ...SETTLED, payment_ids: JSON.stringify([paymentId]) }];
  }
  if (entry.part_of === like.id) {
    const known = await findPartsOf(tx, tenantId, [like.id]);
    const settled = known.filter(({ id, doubt }) => id === entry.id || doubt !== "open");
    const batch = await divide(settling, like, settled);
    await clearDoubts(settling, tenantId, parsePaymentIds(entry));
    return [batch, { ...entry, ...SETTLED }];
  }
  const parts = await findPartsOf(tx, tenantId, [entry.id]);
  const settled = parts.filter(({ doubt }) => doubt !== "open");
  if (settled.length > 0) return [await divide(settling, entry, settled)];
  const batch = await removePairs(settling, entry);
  if (batch !== undefined) return [batch];
  throw new Problem(
    "conflict",
    `The payments of this entry are ${describeMoney(entry)}, and what it may repeat is ${describeMoney(like)}: the difference would be lost. Import the messages with the other payments first, or settle it as different.`,
  );
};
