import Big from "big.js";
import type { NewPayment } from "../../../store/queries/payments.ts";

export type Values = Readonly<Record<string, unknown>>;

/** The fields that a match sets. What the sender said in them is kept beside the row. */
const SAID = [
  "accountNumber",
  "accountName",
  "documentNumber",
  "invoiceNumber",
  "poNumber",
  "appliedAmount",
  "unappliedAmount",
  "invoiceAmount",
  "invoiceBalance",
  "discountTaken",
  "deductionAmount",
  "shortPay",
  "applicationStatus",
  "matchMethod",
  "matchConfidence",
] as const;

/** Rows of these were written by a bank's file: version 0.1.0 stored no words of the sender beside them. */
const BANK_SOURCES: ReadonlySet<unknown> = new Set(["bai2", "camt054", "edi820"]);

const SET_BY_MATCH: ReadonlySet<string> = new Set(SAID);

const pick = (values: Values, names: readonly string[]): Record<string, unknown> => {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (values[name] !== undefined) picked[name] = values[name];
  return picked;
};

/** Returns the words of the sender in a row that version 0.1.0 stored, without the amounts that it computed. */
const readFormer = (values: Values): Record<string, unknown> => ({
  ...pick(values, ["invoiceNumber", "invoiceAmount", "discountTaken", "poNumber"]),
  ...(Number(values["appliedAmount"] ?? 0) === 0 ? {} : pick(values, ["appliedAmount"])),
  ...(values["deductionReasonCode"] === undefined ? {} : pick(values, ["deductionAmount"])),
});

/** Returns what the sender said in the fields that a match sets. */
export const readSaid = ({ matching, values }: NewPayment, isStored: boolean): Values => {
  if (matching !== undefined) return JSON.parse(matching.said) as Values;
  return isStored ? readFormer(values) : pick(values, SAID);
};

/** Whether a stored row may be matched: its fields are not the words of a table of applications. */
export const isMatchable = ({ matching, values }: NewPayment): boolean =>
  matching !== undefined || BANK_SOURCES.has(values["remittanceSource"]);

/** Returns the values of a row without what an earlier match set. */
export const restore = (values: Values, stated: Values): Values => {
  // V8 stores an object of which members were deleted as a dictionary, which takes several times as long to read.
  const restored: Record<string, unknown> = {};
  for (const name of Object.keys(values))
    if (!SET_BY_MATCH.has(name)) restored[name] = values[name];
  return Object.assign(restored, stated);
};

export const ZERO = new Big(0);

export const toBig = (value: unknown): Big | undefined =>
  typeof value === "number" || (typeof value === "string" && value !== "")
    ? new Big(value)
    : undefined;

export const amountOf = (values: Values, name: string): Big => toBig(values[name]) ?? ZERO;

export const textOf = (values: Values, name: string): string | undefined => {
  const value = values[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

/** Returns the different texts that rows have in a field. */
export const textsOf = (rows: readonly Pick<NewPayment, "values">[], name: string): string[] => [
  ...new Set(rows.flatMap(({ values }) => textOf(values, name) ?? [])),
];

export const smallest = (first: Big, ...others: readonly (Big | undefined)[]): Big =>
  others.reduce<Big>((least, one) => (one !== undefined && one.lt(least) ? one : least), first);

export const atLeastZero = (amount: Big): Big => (amount.lt(0) ? ZERO : amount);

export const sum = (amounts: readonly Big[]): Big =>
  amounts.reduce((total, amount) => total.plus(amount), ZERO);
