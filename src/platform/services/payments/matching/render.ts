import type Big from "big.js";
import type { Matching, NewPayment } from "../../../store/queries/payments.ts";
import { WAITING_RETURN } from "../../../store/queries/payment-matching.ts";
import { isFinal, openOf, type Paper } from "./ledger.ts";
import { type Line, type Payment } from "./lines.ts";
import { amountOf, atLeastZero, sum, textOf, type Values, ZERO } from "./values.ts";

type Rendered = { values: Record<string, unknown>; matching: Matching };

const NOTHING = { appliedAmount: 0, shortPay: false, applicationStatus: "unapplied" };

const omit = (values: Values, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));

/** Whether a line is applied to its document, or says only what was deducted from it. */
const isApplied = (payment: Payment, line: Line, paper: Paper): boolean => {
  const same = payment.lines.filter(({ choice }) => choice?.paper === paper);
  if (same.some(({ applied }) => !applied.eq(0))) {
    return !line.applied.eq(0) || line.share?.eq(0) === true;
  }
  const isZero = same.every(({ share }) => share?.eq(0) === true);
  return isZero && (line.discount.gt(0) || openOf(paper)?.gt(0) !== false);
};

/** Returns the amount by which a final payment was short. */
const findShortfall = (payment: Payment, line: Line, paper: Paper): Big => {
  const same = payment.lines.filter(({ choice }) => choice?.paper === paper);
  const isLast = same.findLast(({ applied }) => applied.gt(0)) === line;
  if (!isLast || same.some(({ deduction }) => deduction.gt(0))) return ZERO;
  const rest = openOf(paper) ?? ZERO;
  if (!isFinal(sum(same.map(({ applied }) => applied)), rest)) return ZERO;
  return atLeastZero(rest.minus(paper.deducted));
};

const applyTo = (payment: Payment, line: Line, paper: Paper): Record<string, unknown> => {
  const { applied, deduction, discount, choice } = line;
  const { discountTaken: _stated, ...values } = line.values;
  const shortfall = paper.isCredit ? ZERO : findShortfall(payment, line, paper);
  const short = deduction.gt(0) ? deduction : shortfall;
  paper.deducted = paper.deducted.plus(short);
  const isOpen = !paper.isCredit && openOf(paper)?.gt(0) === true;
  const total = paper.original ?? paper.stated;
  const sign = paper.isCredit ? -1 : 1;
  return {
    ...values,
    documentNumber: paper.number,
    invoiceNumber: values["invoiceNumber"] ?? paper.row.invoice_num ?? paper.number,
    accountNumber: paper.account,
    poNumber: values["poNumber"] ?? paper.poNumber,
    invoiceAmount: values["invoiceAmount"] ?? total?.times(sign).toNumber(),
    invoiceBalance: (paper.stated ?? paper.original)?.times(sign).toNumber(),
    appliedAmount: applied.toNumber(),
    ...(discount.eq(0) ? {} : { discountTaken: discount.toNumber() }),
    ...(short.gt(0) ? { deductionAmount: short.toNumber() } : {}),
    shortPay: short.gt(0),
    applicationStatus: isOpen || short.gt(0) ? "partial" : "matched",
    matchMethod: "auto",
    matchConfidence: choice?.confidence,
  };
};

/** The amounts that a sender says of a document that is paid already are of no effect. */
const withoutPaper = ({ values, choice }: Line): Record<string, unknown> => {
  if (choice === undefined) return { ...values, ...NOTHING };
  if (!choice.isSuggested) {
    return { ...omit(values, ["deductionAmount", "discountTaken"]), ...NOTHING };
  }
  const { number, row } = choice.paper;
  return {
    ...values,
    ...NOTHING,
    documentNumber: number,
    invoiceNumber: values["invoiceNumber"] ?? row.invoice_num ?? number,
    matchMethod: "suggested",
    matchConfidence: choice.confidence,
  };
};

const renderValues = (payment: Payment, line: Line): Record<string, unknown> => {
  const { choice, applied, values, deduction } = line;
  if (choice !== undefined && !choice.isSuggested && isApplied(payment, line, choice.paper)) {
    return applyTo(payment, line, choice.paper);
  }
  if (line.name === undefined && !applied.eq(0)) {
    return {
      ...values,
      appliedAmount: applied.toNumber(),
      shortPay: deduction.gt(0),
      applicationStatus: "matched",
      matchMethod: "auto",
      matchConfidence: 1,
    };
  }
  return withoutPaper(line);
};

/** The key of the document that a row waits for, while its payment has money left. A credit note that it uses adds to it. */
const findWaitingKey = (payment: Payment, line: Line, left: Big): string | null => {
  if (line.name === undefined || payment.doubt !== undefined) return null;
  if (left.lte(0) && line.share?.lt(0) !== true) return null;
  const isDone = line.share === undefined ? line.applied.gt(0) : line.applied.gte(line.share);
  return isDone && line.choice?.isSuggested === false ? null : line.key || null;
};

/** Returns the values of a payment's rows after it was allocated. */
export const renderPayment = (payment: Payment): Rendered[] => {
  const left = payment.amount.minus(sum(payment.lines.map(({ applied }) => applied)));
  return payment.lines.map((line) => {
    const values = {
      ...renderValues(payment, line),
      unappliedAmount: left.toNumber(),
      ...(payment.doubt === undefined ? {} : { doubt: addDoubt(line.values, payment.doubt) }),
    };
    const isMatched = !line.applied.eq(0);
    const matching: Matching = {
      said: JSON.stringify(line.stated),
      appliedAt: isMatched ? (textOf(line.values, "updatedAt") ?? null) : null,
      waitingKey: findWaitingKey(payment, line, left),
    };
    return { values, matching };
  });
};

const addDoubt = (values: Values, doubt: string): string => {
  const before = textOf(values, "doubt");
  return before === undefined || before.includes(doubt) ? (before ?? doubt) : `${before}; ${doubt}`;
};

/** A return takes back nothing until its payment is known. */
export const renderReturn = ({ values, stated }: Line): Rendered => ({
  values: {
    ...values,
    appliedAmount: 0,
    unappliedAmount: values["paymentAmount"],
    shortPay: false,
    applicationStatus: "reversed",
  },
  matching: {
    said: JSON.stringify(stated),
    appliedAt: null,
    waitingKey:
      textOf(values, "returnedPaymentId") === undefined && amountOf(values, "paymentAmount").lt(0)
        ? WAITING_RETURN
        : null,
  },
});

/** A row that is applied as before keeps the time of it. */
export const keepTime = (before: NewPayment, after: NewPayment): NewPayment => {
  const { matching } = after;
  const appliedAt = before.matching?.appliedAt ?? null;
  const isSame =
    before.values["documentNumber"] === after.values["documentNumber"] &&
    before.values["appliedAmount"] === after.values["appliedAmount"];
  return matching === undefined || matching.appliedAt === null || appliedAt === null || !isSame
    ? after
    : { ...after, matching: { ...matching, appliedAt } };
};
