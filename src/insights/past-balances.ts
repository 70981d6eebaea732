import Big from "big.js";
import type { DocumentHistory } from "../contract/operations/documents.ts";
import type { Moment } from "./standing.ts";

/** A row of cash application of a document that stands: what it paid, discount included, and its day. */
export type AppliedPayment = { paymentId: string | null; day: string; amount: Big };

type Recorded = DocumentHistory["balances"][number];

/** A balance that holds from a time on, unless a later one holds from an earlier time. */
export type RecordedBalance = Pick<Recorded, "status" | "balance" | "cause"> & {
  at: number;
  currencyCode: string | null;
};

/** A document with what is known of its past; amounts of credit notes are negative. */
export type Paper = {
  documentNumber: string;
  accountNumber: string;
  type: "invoice" | "credit_note" | "other";
  issuedOn: string;
  dueOn: string;
  status: "open" | "closed";
  currencyCode: string | null;
  balance: number | null;
  original: number | null;
  closures: { at: number; reason: string | null }[];
  balances: RecordedBalance[];
  payments: AppliedPayment[];
};

/** The facts on which a balance rests, in the order in which notes count them. */
export const BASES = ["records", "payments", "original", "first"] as const;

export type Stand = {
  status: "open" | "closed";
  balance: Big;
  currencyCode: string | null;
  basis: (typeof BASES)[number];
};

const ZERO = new Big(0);

/** Returns what was paid of a document by a day. */
const sumPaid = (payments: readonly AppliedPayment[]): Big =>
  payments.reduce((sum, { amount }) => sum.plus(amount), ZERO);

const isClosedBefore = ({ closures, balances, status }: Paper, at: number): boolean =>
  closures.some((one) => one.at <= at) &&
  (balances[0] === undefined ? status === "closed" : balances[0].cause === "reopened");

/** The original amount less what was paid, or the first known balance where there is none. */
const standByPayments = (paper: Paper, { at }: Moment, day: string): Stand => {
  const { original, balances, balance, currencyCode } = paper;
  const paid = paper.payments.filter((one) => one.day <= day);
  const first = balances[0]?.balance ?? balance ?? 0;
  const left = original === null ? new Big(first) : new Big(original).minus(sumPaid(paid));
  const basis = original === null ? "first" : paid.length === 0 ? "original" : "payments";
  return isClosedBefore(paper, at) || left.eq(0)
    ? { status: "closed", balance: ZERO, currencyCode, basis }
    : { status: "open", balance: left, currencyCode, basis };
};

/** Returns how a document stood at a moment; undefined before the day of its issue. */
export const standPaperAt = (paper: Paper, asOf: Moment): Stand | undefined => {
  const { at, isPast, calendar } = asOf;
  const day = calendar.formatDay(at);
  if (paper.issuedOn > day) return undefined;
  if (!isPast) {
    const { status, currencyCode } = paper;
    const balance = status === "closed" ? ZERO : new Big(paper.balance ?? 0);
    return { status, balance, currencyCode, basis: "records" };
  }
  const known = paper.balances.findLast((one) => one.at <= at);
  if (known === undefined) return standByPayments(paper, asOf, day);
  const currencyCode = known.currencyCode ?? paper.currencyCode;
  return {
    status: known.status,
    balance: new Big(known.balance ?? 0),
    currencyCode,
    basis: "records",
  };
};

/** Counts what balances rest on, in the order of {@link BASES}. */
export const countBases = (stands: Iterable<Stand>): number[] => {
  const counts = BASES.map(() => 0);
  for (const { basis } of stands) {
    const place = BASES.indexOf(basis);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
};
