import Big from "big.js";
import { toExactNumber } from "../contract/insights/result.ts";
import { omitNulls } from "./brief.ts";
import type { Fields } from "./insight.ts";
import type { PeriodDisputes } from "./kpi-disputes.ts";
import type { Countback, Receivables, Sales } from "./kpi-documents.ts";
import type { Recovered } from "./kpi-recovered.ts";

export const KPI_UNITS = ["days", "share", "amount"] as const;
export type KpiUnit = (typeof KPI_UNITS)[number];

/** The measures in the order of items, with their units. */
export const KPI_MEASURES = {
  dsoCountback: "days",
  dsoSimple: "days",
  bestPossibleDso: "days",
  averageDaysDelinquent: "days",
  collectionEffectiveness: "share",
  disputedShare: "share",
  daysDeductionOutstanding: "days",
  medianDaysToClose: "days",
  p90DaysToClose: "days",
  validShare: "share",
  amountRecovered: "amount",
  reopenedShare: "share",
} as const satisfies Record<string, KpiUnit>;
export type KpiMeasure = keyof typeof KPI_MEASURES;

/** The figures of a group in a currency and a period; a text is the reason why they are unknown. */
export type KpiFacts = {
  days: number;
  opening: Receivables | string;
  closing: Receivables | string;
  sales: Sales | string;
  countback: Countback | string;
  disputes: PeriodDisputes | string;
  recovered: Recovered;
  /** Why reopenings are unknown. */
  unknownReopenings: string | undefined;
};

/** A measure before its units and formula. */
type Figure = {
  value: Big | null;
  numerator?: Big;
  denominator?: Big;
  /** Open documents at the end, or the disputes that count. */
  rows: number;
  reason?: string | undefined;
};

const unknown = (reason: string): Figure => ({ value: null, rows: 0, reason });

const DECIMALS = { days: 2, share: 4 } as const;

type Ratio = { numerator: Big; denominator: Big; rows: number; without: string; days?: number };

/** Divides, where that has a meaning: neither by nothing nor to less than nothing. */
const toRatio = ({ numerator, denominator, rows, without, days }: Ratio): Figure => {
  const parts = { numerator, denominator, rows };
  if (denominator.lte(0)) return { ...parts, value: null, reason: without };
  if (numerator.lt(0)) return { ...parts, value: null, reason: "The numerator is below 0." };
  if (days === undefined && numerator.gt(denominator))
    return { ...parts, value: null, reason: "The numerator exceeds the denominator." };
  return { ...parts, value: numerator.times(days ?? 1).div(denominator) };
};

const NO_SALES = "The sales of the period, less credit notes, are not above 0.";
const NO_RECEIVABLES = "The receivables at the end are not above 0.";
const NOTHING_TO_COLLECT = "Nothing was due for collection in the period.";
const NO_DEDUCTIONS = "No dispute was opened in the period.";
const NONE_CLOSED = "No dispute was closed in the period.";
const NONE_DECIDED = "No dispute was closed in the period with a decision that is still known.";
const NONE_REJECTED = "No dispute was closed as not valid in the period.";

const measureCountback = ({ closing, countback }: KpiFacts): Figure => {
  if (typeof closing === "string") return unknown(closing);
  const { total: numerator, rows } = closing;
  if (numerator.lt(0)) return { value: null, numerator, rows, reason: "Credits exceed invoices." };
  if (numerator.eq(0)) return { value: numerator, numerator, rows };
  if (typeof countback === "string") return { value: null, numerator, rows, reason: countback };
  return { value: countback.days, numerator, denominator: countback.sales, rows };
};

/** Divides a part of the receivables by the sales, in days of the period. */
const measureSalesDays = (
  { closing, sales, days }: KpiFacts,
  choose: (receivables: Receivables) => Big,
): Figure => {
  if (typeof closing === "string") return unknown(closing);
  const [numerator, { rows }] = [choose(closing), closing];
  if (typeof sales === "string") return { value: null, numerator, rows, reason: sales };
  return toRatio({ numerator, denominator: sales.amount, rows, without: NO_SALES, days });
};

const measureEffectiveness = ({ opening, closing, sales }: KpiFacts): Figure => {
  if (typeof closing === "string") return unknown(closing);
  if (typeof opening === "string") return unknown(opening);
  if (typeof sales === "string") return unknown(sales);
  const due = opening.total.plus(sales.amount);
  return toRatio({
    numerator: due.minus(closing.total),
    denominator: due.minus(closing.current),
    rows: closing.rows,
    without: NOTHING_TO_COLLECT,
  });
};

const measureDisputed = ({ closing }: KpiFacts): Figure => {
  if (typeof closing === "string") return unknown(closing);
  const { disputed: numerator, total: denominator, rows } = closing;
  return toRatio({ numerator, denominator, rows, without: NO_RECEIVABLES });
};

/** Returns the value at a percentile by nearest rank; numerator and denominator are rank and number. */
const measurePercentile = ({ disputes }: KpiFacts, percent: number): Figure => {
  if (typeof disputes === "string") return unknown(disputes);
  // Numbers of an array of their own kind are sorted many times faster.
  const sorted = Float64Array.from(disputes.daysToClose).toSorted();
  const rank = Math.ceil((percent * sorted.length) / 100);
  const value = sorted[rank - 1];
  if (value === undefined) return unknown(NONE_CLOSED);
  return {
    value: new Big(value),
    numerator: new Big(rank),
    denominator: new Big(sorted.length),
    rows: sorted.length,
  };
};

const measureCounts = (part: number, whole: number, without: string): Figure =>
  toRatio({ numerator: new Big(part), denominator: new Big(whole), rows: whole, without });

const measureDeductions = ({ disputes, days }: KpiFacts): Figure => {
  if (typeof disputes === "string") return unknown(disputes);
  const { open, opened } = disputes;
  const [numerator, denominator] = [open.amount, opened.amount];
  return toRatio({ numerator, denominator, rows: open.rows, without: NO_DEDUCTIONS, days });
};

const measureRecovered = ({ disputes, recovered }: KpiFacts): Figure => {
  if (typeof disputes === "string") return unknown(disputes);
  const { rejected, rejectedAmount: denominator } = disputes;
  const rows = rejected.length;
  if (rows === 0) return unknown(NONE_REJECTED);
  if (typeof recovered === "string") return { value: null, denominator, rows, reason: recovered };
  const value = recovered.get(disputes) ?? new Big(0);
  return { value, numerator: value, denominator, rows };
};

const measureReopened = ({ disputes, unknownReopenings }: KpiFacts): Figure => {
  if (typeof disputes === "string") return unknown(disputes);
  if (unknownReopenings !== undefined) return unknown(unknownReopenings);
  return measureCounts(disputes.reopened, disputes.closed, NONE_CLOSED);
};

const FIGURES: Record<KpiMeasure, (facts: KpiFacts) => Figure> = {
  dsoCountback: measureCountback,
  dsoSimple: (facts) => measureSalesDays(facts, ({ total }) => total),
  bestPossibleDso: (facts) => measureSalesDays(facts, ({ current }) => current),
  averageDaysDelinquent: (facts) =>
    measureSalesDays(facts, ({ total, current }) => total.minus(current)),
  collectionEffectiveness: measureEffectiveness,
  disputedShare: measureDisputed,
  daysDeductionOutstanding: measureDeductions,
  medianDaysToClose: (facts) => measurePercentile(facts, 50),
  p90DaysToClose: (facts) => measurePercentile(facts, 90),
  validShare: ({ disputes }) =>
    typeof disputes === "string"
      ? unknown(disputes)
      : measureCounts(disputes.valid, disputes.decided, NONE_DECIDED),
  amountRecovered: measureRecovered,
  reopenedShare: measureReopened,
};

/** The formula of each measure; `DAYS` are those of the period. */
const FORMULAS: Record<KpiMeasure, string> = {
  dsoCountback:
    "days of the months, latest first, whose sales add up to the receivables at the end; the earliest in part",
  dsoSimple: "receivables at the end / sales * DAYS",
  bestPossibleDso: "receivables not yet due at the end / sales * DAYS",
  averageDaysDelinquent: "overdue receivables at the end / sales * DAYS",
  collectionEffectiveness:
    "(receivables before + sales - receivables at the end) / (receivables before + sales - receivables not yet due at the end)",
  disputedShare: "open disputes on open documents / receivables at the end",
  daysDeductionOutstanding: "open disputes at the end / disputes opened, without canceled * DAYS",
  medianDaysToClose: "nearest rank, 50 % of disputes closed; numerator is the rank",
  p90DaysToClose: "nearest rank, 90 % of disputes closed; numerator is the rank",
  validShare: "valid disputes / disputes closed",
  amountRecovered: "paid since on documents of disputes closed as not valid, at most their amounts",
  reopenedShare: "disputes closed and reopened since / disputes closed",
};

const format = (value: Big, unit: KpiUnit) =>
  unit === "amount"
    ? toExactNumber(value.toFixed())
    : Number(value.toFixed(DECIMALS[unit], Big.roundHalfUp));

const exact = (value: Big | undefined) =>
  value === undefined ? null : toExactNumber(value.toFixed());

/** Computes all measures of a group in their order, in the form of items. */
export const measureAll = (facts: KpiFacts): Fields[] =>
  (Object.keys(KPI_MEASURES) as KpiMeasure[]).map((measure) => {
    const { value, numerator, denominator, rows, reason } = FIGURES[measure](facts);
    const unit = KPI_MEASURES[measure];
    return {
      measure,
      value: value === null ? null : format(value, unit),
      unit,
      numerator: exact(numerator),
      denominator: exact(denominator),
      rows,
      formula: FORMULAS[measure].replace("DAYS", `${facts.days} days`),
      ...omitNulls({ reason }),
    };
  });
