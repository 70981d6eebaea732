import Big from "big.js";
import type { Calendar } from "../contract/insights/calendar.ts";
import type { Dispute } from "../contract/operations/disputes.ts";
import { findParts, toUnits } from "./explained-deductions.ts";
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
  discountTaken?: number | null;
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
  "discountTaken",
  "applicationStatus",
  "matchMethod",
  "shortPay",
] as const satisfies readonly (keyof DeductionRow)[];

/**
 * How a payment explains a dispute, the best first. `sum`: two or three deductions of one payment add up to its amount.
 * `paid-later`: a payment after its opening has paid the document in full.
 */
export const MATCHES = ["exact", "sum", "within", "paid-later", "other-amount", "none"] as const;
export type Match = (typeof MATCHES)[number];

export type Matched = {
  match: Match;
  row?: DeductionRow;
  /** The row's amount less the dispute's. */
  difference?: number;
};

/**
 * Returns the amounts that a payment left out: the deduction, and the unpaid part of the invoice if it paid short, with
 * and without the cash discount, because that may be what is disputed.
 */
const listShortfalls = (row: DeductionRow): Big[] => {
  const { deductionAmount, invoiceAmount, appliedAmount, discountTaken, shortPay } = row;
  // An instalment leaves a part unpaid, too.
  const isShort = shortPay !== false && invoiceAmount !== null && appliedAmount !== null;
  const unpaid = isShort ? [new Big(invoiceAmount).minus(appliedAmount)] : [];
  return [
    ...(deductionAmount === null ? [] : [new Big(deductionAmount)]),
    ...unpaid,
    ...unpaid.map((amount) => amount.minus(discountTaken ?? 0)),
  ].filter((shortfall) => !shortfall.eq(0));
};

type Candidate = { row: DeductionRow; difference: Big };

/** Whether a row explains another dispute already. */
type IsTaken = (row: DeductionRow) => boolean;

const isCloser = (a: Candidate, b: Candidate, isTaken: IsTaken): boolean => {
  const order = a.difference.abs().cmp(b.difference.abs());
  if (order !== 0) return order < 0;
  // Of equal differences one that explains no other dispute counts, and of these the latest payment.
  if (isTaken(a.row) !== isTaken(b.row)) return isTaken(b.row);
  return (a.row.paymentDate ?? "") > (b.row.paymentDate ?? "");
};

const toMatch = (difference: Big, tolerance: number): Match => {
  if (difference.eq(0)) return "exact";
  return difference.abs().lte(tolerance) ? "within" : "other-amount";
};

type Claim = Pick<Dispute, "amount" | "currencyCode" | "createDate">;

const findNearest = (
  amount: number,
  rows: readonly DeductionRow[],
  isTaken: IsTaken,
): Candidate | undefined => {
  let nearest: Candidate | undefined;
  for (const row of rows) {
    for (const shortfall of listShortfalls(row)) {
      const candidate = { row, difference: shortfall.minus(amount) };
      if (nearest === undefined || isCloser(candidate, nearest, isTaken)) nearest = candidate;
    }
  }
  return nearest;
};

/** The deductions of one payment that are added up; the combinations of more would take too long. */
const MOST_ADDED = 30;

/** Finds the first of two or three deductions of one payment that add up to the amount. */
const findSum = (amount: number, rows: readonly DeductionRow[]): DeductionRow | undefined => {
  const deducted = rows.filter(
    ({ paymentId, deductionAmount }) =>
      paymentId !== null && deductionAmount !== null && deductionAmount > 0,
  );
  for (const own of Map.groupBy(deducted, ({ paymentId }) => paymentId).values()) {
    const parts = own
      .slice(0, MOST_ADDED)
      .map((row) => ({ value: row, units: toUnits(row.deductionAmount ?? 0) }));
    const sum = findParts(parts, toUnits(amount));
    if (sum !== undefined) return sum[0]?.value;
  }
  return undefined;
};

/** Finds the last payment on a document after a dispute was opened, if it is paid in full since, discount included. */
const findLaterPayment = (
  { createDate }: Claim,
  rows: readonly DeductionRow[],
  { toDay }: Calendar,
): DeductionRow | undefined => {
  const [last] = rows
    .filter(({ appliedAmount }) => appliedAmount !== null && appliedAmount > 0)
    .toSorted((a, b) => ((a.paymentDate ?? "") < (b.paymentDate ?? "") ? 1 : -1));
  const invoiceAmount = rows.find((row) => row.invoiceAmount !== null)?.invoiceAmount ?? null;
  if (last === undefined || invoiceAmount === null) return undefined;
  const paid = rows.reduce(
    (sum, { appliedAmount, discountTaken }) =>
      sum.plus(appliedAmount ?? 0).plus(discountTaken ?? 0),
    new Big(0),
  );
  const isLater = (last.paymentDate ?? "") > toDay(createDate);
  return isLater && paid.gte(invoiceAmount) ? last : undefined;
};

export type MatchTerms = {
  /** The largest difference. */
  tolerance: number;
  calendar: Calendar;
  isTaken?: IsTaken;
};

/**
 * Finds what explains a dispute among the rows of its document, in the same currency: the shortfall nearest to its
 * amount, deductions that add up to it, or a later payment of the whole document.
 */
export const findDeduction = (
  claim: Claim,
  rows: readonly DeductionRow[],
  { tolerance, calendar, isTaken = () => false }: MatchTerms,
): Matched => {
  const standing = selectStanding(rows).filter(
    ({ currencyCode }) => currencyCode === null || currencyCode === claim.currencyCode,
  );
  const nearest = findNearest(claim.amount, standing, isTaken);
  if (nearest?.difference.eq(0) !== true) {
    const summed = findSum(claim.amount, standing);
    if (summed !== undefined) return { match: "sum", row: summed, difference: 0 };
  }
  const found = nearest === undefined ? "none" : toMatch(nearest.difference, tolerance);
  if (found === "none" || found === "other-amount") {
    const later = findLaterPayment(claim, standing, calendar);
    if (later !== undefined) return { match: "paid-later", row: later };
  }
  if (nearest === undefined) return { match: "none" };
  return { match: found, row: nearest.row, difference: nearest.difference.toNumber() };
};
