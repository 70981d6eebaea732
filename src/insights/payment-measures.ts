import type Big from "big.js";
import {
  formatMeasure,
  isPaymentAmount,
  type Measure,
  type MeasureOp,
  type PaymentSummaryItem,
} from "../contract/insights/payment-summary.ts";
import { InexactNumber } from "../kit/json.ts";
import { createSums, formatAverage, formatTotal } from "./decimal.ts";
import { compareValues, createMembership, createNumbering, type KeyValue } from "./groups.ts";

export type Row = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

type Figure = KeyValue;

/** One measure of every group. */
export type Accumulator = {
  name: string;
  op: MeasureOp;
  field: string;
  /** `slot` numbers the pair of payment and group, so that a payment's own amounts count once in a group. */
  add(group: number, row: Row, slot: number): void;
  figure(group: number): Figure;
  /** Whether the group has no figure, which then is null. */
  isEmpty(group: number): boolean;
  /** Compares the figures of two groups that have one. */
  compare(a: number, b: number): number;
};

const toNumber = (value: unknown): number | undefined => {
  if (typeof value === "number") return value;
  return value instanceof InexactNumber ? Number(value.source) : undefined;
};

type Totals = {
  add(group: number, row: Row, slot: number): void;
  total(group: number): Big;
  count(group: number): number;
  compare(a: number, b: number): number;
};

/** Sums of an amount of each row. */
const createRowTotals = (field: string): Totals => {
  const sums = createSums();
  const counts: number[] = [];
  return {
    add(group, row) {
      const value = toNumber(row[field]);
      while (counts.length <= group) counts.push(0);
      if (value === undefined) return;
      sums.add(group, value);
      counts[group] = (counts[group] ?? 0) + 1;
    },
    total: sums.total,
    count: (group) => counts[group] ?? 0,
    compare: sums.compare,
  };
};

/** Sums of an amount of the payment, once per payment and group: the largest of its rows. */
const createPaymentTotals = (field: string): Totals => {
  const sums = createSums();
  const counts: number[] = [];
  const largest: number[] = [];
  return {
    add(group, row, slot) {
      const value = toNumber(row[field]);
      while (counts.length <= group) counts.push(0);
      while (largest.length <= slot) largest.push(Number.NaN);
      if (value === undefined) return;
      const before = largest[slot] ?? Number.NaN;
      if (before >= value) return;
      if (Number.isNaN(before)) counts[group] = (counts[group] ?? 0) + 1;
      else sums.add(group, -before);
      sums.add(group, value);
      largest[slot] = value;
    },
    total: sums.total,
    count: (group) => counts[group] ?? 0,
    compare: sums.compare,
  };
};

type Part = Pick<Accumulator, "add" | "figure" | "isEmpty" | "compare">;

const never = (): boolean => false;

const sumOf = (totals: Totals): Part => ({
  add: totals.add,
  figure: (group) => formatTotal(totals.total(group)),
  isEmpty: never,
  compare: totals.compare,
});

const averageOf = (totals: Totals): Part => {
  const average = (group: number): Big => totals.total(group).div(totals.count(group));
  return {
    add: totals.add,
    figure: (group) => formatAverage(totals.total(group), totals.count(group)),
    isEmpty: (group) => totals.count(group) === 0,
    compare: (a, b) => average(a).cmp(average(b)),
  };
};

const toComparable = (value: unknown): string | number | null =>
  typeof value === "string" ? value : (toNumber(value) ?? null);

const extremeOf = (field: string, sign: 1 | -1): Part => {
  const best: (string | number | null)[] = [];
  const figure = (group: number): Figure => best[group] ?? null;
  return {
    add(group, row) {
      const value = toComparable(row[field]);
      while (best.length <= group) best.push(null);
      const before = best[group] ?? null;
      if (value === null) return;
      if (before === null || compareValues(value, before) * sign > 0) best[group] = value;
    },
    figure,
    isEmpty: (group) => figure(group) === null,
    compare: (a, b) => compareValues(figure(a), figure(b)),
  };
};

const countOf = (field: string): Part => {
  const counts: number[] = [];
  const figure = (group: number): number => counts[group] ?? 0;
  return {
    add(group, row) {
      while (counts.length <= group) counts.push(0);
      if (row[field] !== null && row[field] !== undefined) counts[group] = figure(group) + 1;
    },
    figure,
    isEmpty: never,
    compare: (a, b) => figure(a) - figure(b),
  };
};

const distinctOf = (field: string): Part => {
  const numberOf = createNumbering();
  const members = createMembership();
  return {
    add(group, row) {
      const value = row[field];
      if (value !== null && value !== undefined) members.slotOf(numberOf(value), group);
    },
    figure: members.count,
    isEmpty: never,
    compare: (a, b) => members.count(a) - members.count(b),
  };
};

const createPart = (op: MeasureOp, field: string, totals: () => Totals): Part => {
  if (op === "sum") return sumOf(totals());
  if (op === "avg") return averageOf(totals());
  if (op === "min") return extremeOf(field, -1);
  if (op === "max") return extremeOf(field, 1);
  return op === "count" ? countOf(field) : distinctOf(field);
};

/** Creates the accumulators of the measures that have a field. */
export const createAccumulators = (measures: readonly Measure[]): Accumulator[] =>
  measures.flatMap((measure) => {
    const { op, field } = measure;
    if (field === undefined) return [];
    const totals = () =>
      isPaymentAmount(field) ? createPaymentTotals(field.name) : createRowTotals(field.name);
    const part = createPart(op, field.name, totals);
    return [{ name: formatMeasure(measure), op, field: field.name, ...part }];
  });

/** Returns the figures of a group by operator and field, as an item has them. */
export const collectFigures = (
  accumulators: readonly Accumulator[],
  group: number,
): Partial<PaymentSummaryItem> => {
  const figures: Partial<Record<MeasureOp, Record<string, Figure>>> = {};
  for (const { op, field, figure } of accumulators) {
    figures[op] = { ...figures[op], [field]: figure(group) };
  }
  return figures as Partial<PaymentSummaryItem>;
};
