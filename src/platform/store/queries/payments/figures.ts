import { sql } from "kysely";
import { isPaymentAmount, type Measure } from "../../../../contract/insights/payment-summary.ts";
import { getDialect } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import { type Expression, named, whole } from "../summaries/sql.ts";
import { findColumn } from "./columns.ts";

/** The columns of a measure in SQL, which has three steps. */
type Columns = {
  /** Over the rows of one payment in one group. */
  ofPayment: readonly Expression[];
  /** The same columns over one payment's groups, for totals without groups. */
  combined: readonly [name: string, value: Expression][];
  /** Over the payments of a group: `f…` is the value, `c…` the number of values, `o…` what orders the groups. */
  ofGroup: readonly Expression[];
  /** Over the rows of a group. */
  ofRows: readonly Expression[];
};

export type Figure = Columns & {
  measure: Measure;
  /** The column of a group that orders the groups. */
  order: string;
};

const NONE: Columns = { ofPayment: [], combined: [], ofGroup: [], ofRows: [] };

const countDistinct = (column: Expression, place: number): Columns => ({
  ...NONE,
  ofRows: [named(sql`count(distinct ${column})`, `f${place}`)],
});

const findExtreme = (op: "min" | "max", column: Expression, place: number): Columns => {
  const name = `m${place}`;
  const aggregate = (of: Expression) => sql`${sql.raw(op)}(${of})`;
  const again = aggregate(sql.ref(name));
  return {
    ...NONE,
    ofPayment: [named(aggregate(column), name)],
    combined: [[name, again]],
    ofGroup: [named(again, `f${place}`)],
  };
};

const countValues = (column: Expression, place: number): Columns => {
  const name = `m${place}`;
  const total = whole(sql`sum(${sql.ref(name)})`);
  return {
    ...NONE,
    ofPayment: [named(sql`count(${column})`, name)],
    combined: [[name, total]],
    ofGroup: [named(total, `f${place}`)],
  };
};

type Total = { op: "sum" | "avg"; totals: readonly Expression[]; counted: Expression };

const ofTotals = (db: Db, { op, totals, counted }: Total, place: number): Expression[] => {
  const { sums } = getDialect(db);
  const total = sums.order(totals);
  const order =
    op === "sum" ? sql`coalesce(${total}, 0)` : sql`1.0 * ${total} / nullif(${counted}, 0)`;
  return [
    named(sums.text(totals), `f${place}`),
    named(counted, `c${place}`),
    named(order, `o${place}`),
  ];
};

/** Adds up an amount of payments, which each row of a payment repeats. */
const addPayments = (db: Db, op: "sum" | "avg", column: Expression, place: number): Columns => {
  const name = `m${place}`;
  const amount = sql.ref(name);
  const totals = getDialect(db)
    .sums.split(amount)
    .map((part) => sql`sum(${part})`);
  return {
    ...NONE,
    ofPayment: [named(sql`max(${column})`, name)],
    combined: [[name, sql`max(${amount})`]],
    ofGroup: ofTotals(db, { op, totals, counted: sql`count(${amount})` }, place),
  };
};

const addRows = (db: Db, op: "sum" | "avg", column: Expression, place: number): Columns => {
  const parts = getDialect(db)
    .sums.split(column)
    .map((part, number) => ({ part, name: `m${place}_${number}` }));
  const totals = parts.map(({ name }) => sql`sum(${sql.ref(name)})`);
  const count = `n${place}`;
  const counted = whole(sql`sum(${sql.ref(count)})`);
  return {
    ...NONE,
    ofPayment: [
      ...parts.map(({ part, name }) => named(sql`sum(${part})`, name)),
      named(sql`count(${column})`, count),
    ],
    combined: [
      ...parts.map(({ name }): [string, Expression] => [name, sql`sum(${sql.ref(name)})`]),
      [count, counted],
    ],
    ofGroup: ofTotals(db, { op, totals, counted }, place),
  };
};

const toColumns = (db: Db, { op, field }: Measure, place: number): Columns => {
  if (field === undefined) return NONE;
  const { name, compared } = findColumn(field);
  if (op === "countDistinct") return countDistinct(sql.ref(name), place);
  const column = sql.ref(compared);
  if (op === "count") return countValues(column, place);
  if (op === "min" || op === "max") return findExtreme(op, column, place);
  return isPaymentAmount(field)
    ? addPayments(db, op, column, place)
    : addRows(db, op, column, place);
};

/** Creates the columns of measures; the place of each names its columns. */
export const createFigures = (db: Db, measures: readonly Measure[]): Figure[] =>
  measures.map((measure, place) => ({
    measure,
    order: measure.op === "sum" || measure.op === "avg" ? `o${place}` : `f${place}`,
    ...toColumns(db, measure, place),
  }));
