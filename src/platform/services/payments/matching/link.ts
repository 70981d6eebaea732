import { replacePayments, type NewPayment } from "../../../store/queries/payments.ts";
import {
  readPaymentRows,
  readReferencedPayments,
  readWaiting,
  WAITING_RETURN,
} from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { isReturn } from "./lines.ts";
import { listMentions } from "./mentions.ts";
import { applyReturns, type Settling } from "./returns.ts";
import { amountOf, textOf } from "./values.ts";

/** Waiting returns are few; more than these are linked by a later run. */
const MOST_WAITING = 1000;

const referencesOf = (values: NewPayment["values"]): string[] => [
  ...new Set([
    ...[textOf(values, "paymentReference")].filter((text) => text !== undefined),
    ...listMentions(values),
  ]),
];

type Values = NewPayment["values"];

/** Whether a payment can be the one that is returned. */
const canReturn = (values: Values, payment: Values): boolean =>
  !isReturn(payment) && payment["currencyCode"] === values["currencyCode"];

const isCovered = (values: Values, payment: Values): boolean =>
  amountOf(payment, "paymentAmount").gte(amountOf(values, "paymentAmount").abs());

/**
 * Finds the payments that a return can be of: those that are at least as large and have a reference that it names;
 * else those that have its own reference, because banks add charges to what they take back.
 */
const findReturned = (
  values: Values,
  byReference: ReadonlyMap<string | undefined, readonly NewPayment[]>,
): NewPayment[] => {
  const named = referencesOf(values)
    .flatMap((reference) => byReference.get(reference) ?? [])
    .filter((payment) => canReturn(values, payment.values));
  const covering = named.filter((payment) => isCovered(values, payment.values));
  if (covering.length > 0) return covering;
  const own = textOf(values, "paymentReference");
  return named.filter((payment) => textOf(payment.values, "paymentReference") === own);
};

const setReturned = (row: NewPayment, paymentId: string, { now }: Settling): NewPayment => ({
  ...row,
  values: { ...row.values, returnedPaymentId: paymentId, updatedAt: now },
  ...(row.matching === undefined ? {} : { matching: { ...row.matching, waitingKey: null } }),
});

/**
 * Records of which payment a return is, and takes back what that payment paid. Returns the documents that are
 * concerned, and the payments that the return was of before.
 */
export const linkReturn = async (
  tx: Db,
  settling: Settling,
  link: { returnPaymentId: string; paymentId: string },
): Promise<{ documents: string[]; former: string[]; since: string }> => {
  const rows = await readPaymentRows(tx, settling.tenantId, [link.returnPaymentId]);
  const returned = rows.flatMap(({ values }) => textOf(values, "returnedPaymentId") ?? []);
  const former = [...new Set(returned)].filter((id) => id !== link.paymentId);
  const linked = rows.map((row) => setReturned(row, link.paymentId, settling));
  await replacePayments(tx, "cashapp", linked);
  const { documents } = await applyReturns(tx, settling, [...former, link.paymentId]);
  const [since = settling.now] = rows
    .flatMap(({ values }) => textOf(values, "createdAt") ?? [])
    .toSorted();
  return { documents, former, since };
};

/** Finds the payments of returns that wait for one, by their references; only where exactly one payment has one. */
export const linkWaitingReturns = async (tx: Db, settling: Settling): Promise<string[]> => {
  const { tenantId } = settling;
  const waiting = await readWaiting(tx, tenantId, [WAITING_RETURN], { most: MOST_WAITING });
  if (waiting.length === 0) return [];
  const references = [...new Set(waiting.flatMap(({ values }) => referencesOf(values)))];
  const payments = await readReferencedPayments(tx, tenantId, references);
  const byReference = Map.groupBy(payments, ({ values }) => textOf(values, "paymentReference"));
  const linked: string[] = [];
  for (const { values } of waiting) {
    const found = findReturned(values, byReference);
    const ids = new Set(found.map((payment) => textOf(payment.values, "paymentId")));
    const [paymentId] = ids;
    const returnPaymentId = textOf(values, "paymentId");
    if (ids.size !== 1 || paymentId === undefined || returnPaymentId === undefined) continue;
    linked.push(...(await linkReturn(tx, settling, { returnPaymentId, paymentId })).documents);
  }
  return linked;
};
