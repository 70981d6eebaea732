import Big from "big.js";
import type { Dispute } from "../contract/operations/disputes.ts";
import { selectStanding } from "./standing-payments.ts";

/** A row of cash application with the fields that a match needs. */
export type DeductionRow = {
  id?: string | null;
  paymentId: string | null;
  paymentDate: string | null;
  documentNumber: string | null;
  currencyCode: string | null;
  deductionAmount: number | null;
  deductionReasonCode: string | null;
  invoiceAmount: number | null;
  appliedAmount: number | null;
  applicationStatus: string | null;
  matchMethod: string | null;
  shortPay: boolean | null;
};

export const DEDUCTION_FIELDS = [
  "paymentId",
  "paymentDate",
  "documentNumber",
  "currencyCode",
  "deductionAmount",
  "deductionReasonCode",
  "invoiceAmount",
  "appliedAmount",
  "applicationStatus",
  "matchMethod",
  "shortPay",
] as const satisfies readonly (keyof DeductionRow)[];

export const MATCHES = ["exact", "within", "other-amount", "none"] as const;
export type Match = (typeof MATCHES)[number];

export type Matched = {
  match: Match;
  row?: DeductionRow;
  /** The row's amount less the dispute's. */
  difference?: number;
};

/** Returns the amounts that a payment left out: the deduction, and the unpaid part of the invoice if it paid short. */
const listShortfalls = (row: DeductionRow): Big[] => {
  const { deductionAmount, invoiceAmount, appliedAmount, shortPay } = row;
  // An instalment and a discount leave a part unpaid, too.
  const isShort = shortPay !== false && invoiceAmount !== null && appliedAmount !== null;
  return [
    ...(deductionAmount === null ? [] : [new Big(deductionAmount)]),
    ...(isShort ? [new Big(invoiceAmount).minus(appliedAmount)] : []),
  ].filter((shortfall) => !shortfall.eq(0));
};

type Candidate = { row: DeductionRow; difference: Big };

const isCloser = (a: Candidate, b: Candidate): boolean => {
  const order = a.difference.abs().cmp(b.difference.abs());
  // Of equal differences the latest payment counts.
  return order === 0 ? (a.row.paymentDate ?? "") > (b.row.paymentDate ?? "") : order < 0;
};

const toMatch = (difference: Big, tolerance: number): Match => {
  if (difference.eq(0)) return "exact";
  return difference.abs().lte(tolerance) ? "within" : "other-amount";
};

/** Finds the row of a dispute's document whose shortfall is nearest to the disputed amount, in the same currency. */
export const findDeduction = (
  { amount, currencyCode }: Pick<Dispute, "amount" | "currencyCode">,
  rows: readonly DeductionRow[],
  tolerance: number,
): Matched => {
  let nearest: Candidate | undefined;
  for (const row of selectStanding(rows)) {
    if (row.currencyCode !== null && row.currencyCode !== currencyCode) continue;
    for (const shortfall of listShortfalls(row)) {
      const candidate = { row, difference: shortfall.minus(amount) };
      if (nearest === undefined || isCloser(candidate, nearest)) nearest = candidate;
    }
  }
  if (nearest === undefined) return { match: "none" };
  const { row, difference } = nearest;
  return { match: toMatch(difference, tolerance), row, difference: difference.toNumber() };
};
