import Big from "big.js";
import { CATALOGUE, type Source } from "../../src/contract/payments/catalogue.ts";
import { NAMES } from "./payment-rows.ts";
import type { Row } from "./payment-model.ts";

/** The expected groups of a summary, computed row by row without a database, from the interface documents. */
type Measure = { op: string; field?: string };

const OF_PAYMENTS = ["paymentAmount", "unappliedAmount", "feeAmount", "netAmount"];

const DAY = 86_400_000;

const weekOf = (day: string): string => {
  const date = new Date(`${day}T00:00:00Z`);
  const shift = ((date.getUTCDay() + 6) % 7) - 3;
  const thursday = new Date(date.getTime() - shift * DAY);
  const january = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  const week = Math.floor((thursday.getTime() - january) / (7 * DAY)) + 1;
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, "0")}`;
};

export const spanOf = (date: string, unit: string): string => {
  const day = date.slice(0, 10);
  const [year = "", month = ""] = day.split("-");
  const spans: Record<string, string> = {
    day,
    week: weekOf(day),
    month: `${year}-${month}`,
    quarter: `${year}-Q${Math.floor((Number(month) - 1) / 3) + 1}`,
    year,
  };
  return spans[unit] ?? "";
};

const keyOf = (row: Row, groupBy: readonly string[]): Row =>
  Object.fromEntries(
    groupBy.map((name) => {
      const [field = "", unit] = name.split(":");
      const value = row[field] ?? null;
      return [name, unit === undefined || value === null ? value : spanOf(String(value), unit)];
    }),
  );

const withValue = (rows: readonly Row[], field: string): unknown[] =>
  rows.map((row) => row[field] ?? null).filter((value) => value !== null);

const exactly = (sum: Big): number | string => {
  const text = sum.toFixed();
  return text.replaceAll(/[-.]|^-?0+\.?0*/g, "").length > 15 ? text : Number(text);
};

const add = (values: readonly unknown[]): Big =>
  values.reduce((sum: Big, value) => sum.plus(String(value)), new Big(0));

const compare = (a: unknown, b: unknown): number =>
  (a as number) < (b as number) ? -1 : Number((a as number) > (b as number));

const figure = (rows: readonly Row[], payments: readonly Row[][], { op, field = "" }: Measure) => {
  const values = withValue(rows, field);
  const once = OF_PAYMENTS.includes(field)
    ? payments.flatMap((own) => withValue(own, field).toSorted(compare).slice(-1))
    : values;
  if (op === "countDistinct") return new Set(values).size;
  if (op === "count") return values.length;
  if (op === "sum") return exactly(add(once));
  if (values.length === 0) return null;
  if (op === "avg") return exactly(add(once).div(once.length).round(6));
  const sorted = values.toSorted(compare);
  return op === "min" ? sorted[0] : sorted.at(-1);
};

const groupRows = (rows: readonly Row[], by: (row: Row) => unknown): Row[][] => [
  ...Map.groupBy(rows, (row) => JSON.stringify(by(row))).values(),
];

export type ModelItem = { key: Row; currencyCode: unknown; payments: number; rows: number };

/** Returns the groups in no order. */
export const summarized = (
  source: Source,
  rows: readonly Row[],
  { groupBy, measures }: { groupBy: readonly string[]; measures: readonly Measure[] },
): ModelItem[] =>
  groupRows(rows, (row) => [keyOf(row, groupBy), row["currencyCode"] ?? null]).map((own) => {
    const [first = {}] = own;
    const payments = groupRows(own, (row) => row[NAMES[source]] ?? ["alone", row["id"]]);
    const figures: Record<string, Row> = {};
    for (const measure of measures) {
      if (measure.field === undefined) continue;
      (figures[measure.op] ??= {})[measure.field] = figure(own, payments, measure);
    }
    return {
      key: keyOf(first, groupBy),
      currencyCode: first["currencyCode"] ?? null,
      payments: payments.length,
      rows: own.length,
      ...figures,
    };
  });

/** The fields of a source that a measure can add up. */
export const summable = (source: Source): string[] =>
  CATALOGUE[source].fields.filter(({ type }) => type === "money").map(({ name }) => name);
