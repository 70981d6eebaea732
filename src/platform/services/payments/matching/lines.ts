import type Big from "big.js";
import { isSameNumber, toNumberKey } from "../../../../contract/number-key.ts";
import type { NewPayment } from "../../../store/queries/payments.ts";
import type { Paper } from "./ledger.ts";
import { amountOf, atLeastZero, sum, textOf, toBig, type Values, ZERO } from "./values.ts";

/** A suggestion, or a document that is matched. */
export type Choice = { paper: Paper; confidence: number; isSuggested: boolean };

/** A row of a payment: what the sender said, and what a match makes of it. */
export type Line = {
  row: NewPayment;
  /** Without what an earlier match set. */
  values: Values;
  stated: Values;
  /** The number of a document that the sender named; absent if none was named. */
  name: string | undefined;
  /** The key of that number, or "". */
  key: string;
  /** The amount that is paid according to the sender; absent if unknown. Negative for a credit that is used, or a deduction. */
  share: Big | undefined;
  /** The discount that the sender took; once the line is allocated, no more than is open. */
  discount: Big;
  deduction: Big;
  choice?: Choice;
  applied: Big;
};

/** A payment with its rows in order. */
export type Payment = {
  id: string;
  amount: Big;
  fee: Big;
  currency: string;
  lines: Line[];
  /** Why it is not applied, if its remittance does not add up. */
  doubt?: string;
};

/** Whether a row is the return of a payment, or says itself that it was reversed. */
export const isReturn = (values: Values): boolean =>
  Number(values["paymentAmount"] ?? 0) < 0 || values["applicationStatus"] === "reversed";

export const toLine = (row: NewPayment, stated: Values, values: Values): Line => {
  const name = textOf(values, "documentNumber") ?? textOf(values, "invoiceNumber");
  return {
    row,
    values,
    stated,
    name,
    key: toNumberKey(name ?? ""),
    share: toBig(stated["appliedAmount"]),
    discount: amountOf(stated, "discountTaken"),
    deduction: amountOf(stated, "deductionAmount"),
    applied: ZERO,
  };
};

/** Returns the money of a payment for documents whose share the sender did not name. */
export const freeOf = ({ amount, lines }: Payment): Big =>
  atLeastZero(amount.minus(sum(lines.flatMap(({ share }) => share ?? []))));

const isSame = (one: Line, other: Line): boolean =>
  one === other || (one.key === other.key && isSameNumber(one.name ?? "", other.name ?? ""));

/** The lines that name the same document as a line: one may have an adjustment each. */
export const listSame = (payment: Payment, line: Line): Line[] =>
  payment.lines.filter((one) => one.name !== undefined && isSame(one, line));

const format = (amount: Big): string => amount.toFixed(2);

// Sources whose remittances state what is due of each document.
const STRUCTURED: ReadonlySet<unknown> = new Set(["edi820", "camt054"]);

/**
 * Says which document a remittance explains more of than is due by its own words: what is paid, discounts and deductions
 * together exceed the stated total.
 */
const findExcess = (lines: readonly Line[]): string | undefined => {
  if (!lines.some(({ deduction }) => deduction.gt(0))) return undefined;
  const named = lines.filter(
    ({ name, values }) => name !== undefined && STRUCTURED.has(values["remittanceSource"]),
  );
  const isFirst = (line: Line, place: number): boolean =>
    named.findIndex((one) => isSame(one, line)) === place;
  for (const line of named.filter(isFirst)) {
    const same = named.filter((one) => isSame(one, line));
    const due = sum(same.map(({ stated }) => amountOf(stated, "invoiceAmount")));
    if (due.lte(0) || same.some(({ share }) => share === undefined)) continue;
    const explained = sum(
      same.flatMap(({ share, discount, deduction }) => [share ?? ZERO, discount, deduction]),
    );
    if (explained.lte(due) || !same.some(({ deduction }) => deduction.gt(0))) continue;
    return `its remittance explains ${format(explained)} of ${line.name ?? line.key}, of which ${format(due)} is due`;
  }
  return undefined;
};

/** Says why the remittance of a payment does not add up to it; undefined if it does. */
export const findDoubt = ({ amount, fee, lines }: Payment): string | undefined => {
  const shares = lines.flatMap(({ share }) => share ?? []);
  if (shares.length === 0) return undefined;
  const total = sum(shares);
  const isComplete = lines.every(({ share }) => share !== undefined);
  const isAdvice = lines.some(({ values }) => values["remittanceSource"] === "edi820");
  const isWrong = total.gt(amount.plus(fee)) || (isAdvice && isComplete && total.lt(amount));
  return isWrong
    ? `its remittance adds up to ${format(total)}, the payment is ${format(amount)}`
    : findExcess(lines);
};
