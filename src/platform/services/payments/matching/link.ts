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

/** Whether a payment can be the one that is returned: of the same currency, and at least as large. */
const canReturn = (values: NewPayment["values"], payment: NewPayment["values"]): boolean =>
  !isReturn(payment) &&
  payment["currencyCode"] === values["currencyCode"] &&
  amountOf(payment, "paymentAmount").gte(amountOf(values, "paymentAmount").abs());

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
  const sought = [...new Set(waiting.flatMap(({ values }) => referencesOf(values)))];
  const found = await readReferencedPayments(tx, tenantId, sought);
  const byReference = Map.groupBy(found, ({ values }) => textOf(values, "paymentReference"));
  const linked: string[] = [];
  for (const { values } of waiting) {
    const fitting = referencesOf(values)
      .flatMap((reference) => byReference.get(reference) ?? [])
      .filter((payment) => canReturn(values, payment.values));
    const ids = new Set(fitting.map((payment) => textOf(payment.values, "paymentId")));
    const [paymentId] = ids;
    const returnPaymentId = textOf(values, "paymentId");
    if (ids.size !== 1 || paymentId === undefined || returnPaymentId === undefined) continue;
    linked.push(...(await linkReturn(tx, settling, { returnPaymentId, paymentId })).documents);
  }
  return linked;
};
