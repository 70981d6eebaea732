import { replacePayments, type NewPayment } from "../../../store/queries/payments.ts";
import { isSameNumber } from "../../../../contract/number-key.ts";
import { DAY } from "../../../../kit/clock.ts";
import { fold } from "../../../store/engine/fold.ts";
import { findWaitingReturns } from "../../../store/queries/payment-entries.ts";
import {
  readAlikePayments,
  readPaymentRows,
  readReferencedPayments,
  readReturnsOf,
  readWaiting,
  WAITING_RETURN,
} from "../../../store/queries/payment-matching.ts";
import type { Db } from "../../../store/port.ts";
import { isReturn } from "./lines.ts";
import { listMentions } from "./mentions.ts";
import { applyReturns, type Settling } from "./returns.ts";
import { amountOf, textOf, textsOf } from "./values.ts";

/** A payment is returned within so many days, unless the return names it. */
const RETURN_DAYS = 400;

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
 * Finds the payments that a return names: those that are at least as large and have a reference that it names; else
 * those that have its own reference, because banks add charges to what they take back.
 */
const findNamed = (values: Values, { byReference, byNumber }: Payments): NewPayment[] => {
  const named = referencesOf(values)
    .flatMap((text) => [...(byReference.get(text) ?? []), ...(byNumber.get(text) ?? [])])
    .filter((payment) => canReturn(values, payment.values));
  const covering = named.filter((payment) => isCovered(values, payment.values));
  if (covering.length > 0) return covering;
  const own = textOf(values, "paymentReference");
  return named.filter((payment) => textOf(payment.values, "paymentReference") === own);
};

const documentOf = (values: Values): string | undefined =>
  textOf(values, "documentNumber") ?? textOf(values, "invoiceNumber");

const isNear = (values: Values, payment: Values): boolean => {
  const [back, paid] = [values, payment].map((one) => Date.parse(textOf(one, "paymentDate") ?? ""));
  const days = ((back ?? NaN) - (paid ?? NaN)) / DAY;
  return days >= 0 && days <= RETURN_DAYS;
};

/** Finds the payments of the amount of a return that its payer made before, or that are for the document it names. */
const findAlike = (values: Values, { alike, returned }: Payments): NewPayment[] => {
  const amount = amountOf(values, "paymentAmount").abs();
  const [payer, number] = [textOf(values, "payerName"), documentOf(values)];
  return alike.filter(({ values: payment }) => {
    const [other, document] = [textOf(payment, "payerName"), documentOf(payment)];
    const isSamePayer = payer !== undefined && other !== undefined && fold(payer) === fold(other);
    const isSame =
      number === undefined
        ? isSamePayer
        : isSameNumber(number, document ?? "") &&
          (isSamePayer || payer === undefined || other === undefined);
    return (
      isSame &&
      canReturn(values, payment) &&
      amountOf(payment, "paymentAmount").eq(amount) &&
      isNear(values, payment) &&
      !returned.has(textOf(payment, "paymentId") ?? "")
    );
  });
};

/** The payments that returns may be of. */
type Payments = {
  byReference: ReadonlyMap<string | undefined, readonly NewPayment[]>;
  /** By the payments' own numbers, which tables have. */
  byNumber: ReadonlyMap<string | undefined, readonly NewPayment[]>;
  alike: readonly NewPayment[];
  /** Those that have come back already. */
  returned: Set<string>;
};

/** Reads the payments that returns may be of; `ofTables` are those of no bank's message. */
const readPayments = async (
  tx: Db,
  tenantId: string,
  waiting: readonly NewPayment[],
  ofTables: readonly NewPayment[],
): Promise<Payments> => {
  const list = (rows: readonly NewPayment[]) => [
    ...new Set(rows.flatMap(({ values }) => referencesOf(values))),
  ];
  const referenced = await readReferencedPayments(tx, tenantId, list(waiting));
  const numbered = await readPaymentRows(tx, tenantId, list(ofTables));
  const amounts = ofTables.map(({ values }) => amountOf(values, "paymentAmount").abs().toNumber());
  const alike = await readAlikePayments(tx, tenantId, {
    payers: textsOf(ofTables, "payerName"),
    documents: [...new Set(ofTables.flatMap(({ values }) => documentOf(values) ?? []))],
    amounts: [...new Set(amounts)],
  });
  const returns = await readReturnsOf(tx, tenantId, textsOf(alike, "paymentId"));
  return {
    byReference: Map.groupBy(referenced, ({ values }) => textOf(values, "paymentReference")),
    byNumber: Map.groupBy(numbered, ({ values }) => textOf(values, "paymentId")),
    alike,
    returned: new Set(textsOf(returns, "returnedPaymentId")),
  };
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
  const former = textsOf(rows, "returnedPaymentId").filter((id) => id !== link.paymentId);
  const linked = rows.map((row) => setReturned(row, link.paymentId, settling));
  await replacePayments(tx, "cashapp", linked);
  const { documents } = await applyReturns(tx, settling, [...former, link.paymentId]);
  const [since = settling.now] = textsOf(rows, "createdAt").toSorted();
  return { documents, former, since };
};

/** Returns of a bank's message wait in its entry for a payment of the bank that is only alike. */
const listBankReturns = async (tx: Db, tenantId: string): Promise<Set<string>> => {
  const entries = await findWaitingReturns(tx, tenantId, MOST_WAITING);
  return new Set(entries.flatMap(({ payment_ids: ids }) => JSON.parse(ids) as string[]));
};

/**
 * Finds the payments of returns that wait for one: by their references; for those of a table also by the number of the
 * payment, else by payer or document and amount. Only where there is exactly one.
 */
export const linkWaitingReturns = async (tx: Db, settling: Settling): Promise<string[]> => {
  const { tenantId } = settling;
  const waiting = await readWaiting(tx, tenantId, [WAITING_RETURN], { most: MOST_WAITING });
  if (waiting.length === 0) return [];
  const ofBanks = await listBankReturns(tx, tenantId);
  const ofTables = waiting.filter(({ values }) => !ofBanks.has(textOf(values, "paymentId") ?? ""));
  const payments = await readPayments(tx, tenantId, waiting, ofTables);
  const linked: string[] = [];
  for (const row of waiting) {
    const { values } = row;
    const named = findNamed(values, payments);
    const found =
      named.length === 0 && ofTables.includes(row) ? findAlike(values, payments) : named;
    const ids = new Set(found.map((payment) => textOf(payment.values, "paymentId")));
    const [paymentId] = ids;
    const returnPaymentId = textOf(values, "paymentId");
    if (ids.size !== 1 || paymentId === undefined || returnPaymentId === undefined) continue;
    payments.returned.add(paymentId);
    linked.push(...(await linkReturn(tx, settling, { returnPaymentId, paymentId })).documents);
  }
  return linked;
};
