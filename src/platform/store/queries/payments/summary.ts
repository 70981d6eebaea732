import { type RawBuilder, sql } from "kysely";
import {
  formatMeasure,
  type Measure,
  PAYMENT_ID,
  type PaymentGrouping,
  type PaymentSummary,
} from "../../../../contract/insights/payment-summary.ts";
import { findField, type Source } from "../../../../contract/payments/catalogue.ts";
import type { Value } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";
import { FAMILY_KEYS, joinFamilies, matchFamilies } from "../families.ts";
import {
  type Direction,
  type Expression,
  formatSpan,
  keyNames,
  list,
  localDayOf,
  named,
  type Offsets,
  orderTerm,
} from "../summaries/sql.ts";
import { findColumn, TABLES } from "./columns.ts";
import { createFigures, type Figure } from "./figures.ts";
import { matches } from "./filter.ts";
import { findCandidates, hasSeq, isBetween } from "./scan.ts";

type Selected = Pick<PaymentSummary, "source" | "filter" | "families">;

/**
 * The condition of a filter's rows, whose alias is `d`: by an index where it finds few, else all rows are read.
 */
export const selectRows = async (
  db: Db,
  tenantId: string,
  { source, filter, families }: Selected,
  upTo: number,
): Promise<RawBuilder<boolean>> => {
  const few = await findCandidates(db, { tenantId, source, filter, after: 0, upTo });
  const all = [matches(db, filter), ...(await matchFamilies(db, tenantId, families))];
  const holds = sql<boolean>`${sql.join(all, sql` and `)}`;
  // "is true" hides the filter from the choice of an index: so many rows are read faster in their order.
  return few === undefined
    ? sql<boolean>`tenant_id = ${tenantId} and ${isBetween(0, upTo)} and (${holds}) is true`
    : sql<boolean>`tenant_id = ${tenantId} and ${hasSeq(db, few)} and ${holds}`;
};

/** A group, or the total of a currency; values of measures are in `f…`, their numbers in `c…`, keys in `k…`. */
export type SummaryRow = Record<string, Value> & {
  is_total: 0 | 1;
  currency: string | null;
  payments: number;
  row_count: number;
  /** Of groups: how many there are, and the place in the order. */
  groups: number;
  place: number;
  /** Of totals: the number of payments that belong to several groups. */
  shared: number;
};

const toKey = (db: Db, grouping: PaymentGrouping, offsets: Offsets): Expression => {
  const { field, unit, family } = grouping;
  if (family !== undefined) return FAMILY_KEYS[family];
  const { name, compared, storage } = findColumn(field);
  const column = sql.ref(storage === "decimal" ? compared : name);
  if (unit === undefined) return column;
  const isTime = field.type === "datetime";
  return formatSpan(db, isTime ? localDayOf(db, column, offsets) : column, unit);
};

const findName = (source: Source, fieldName: string): string => {
  const field = findField(source, fieldName);
  return field === undefined ? fieldName : findColumn(field).name;
};

type Parts = {
  /** The table of the source, as `d`, with what its keys need. */
  from: Expression;
  source: Source;
  where: RawBuilder<boolean>;
  keys: readonly Expression[];
  names: readonly string[];
  figures: readonly Figure[];
};

const places = (count: number): Expression =>
  list(Array.from({ length: count }, (_, place) => sql.lit(place + 1)));

const CURRENCY = "currency";

const namedKeys = ({ keys, names }: Parts): Expression[] => [
  named(sql.ref("currency_code"), CURRENCY),
  ...keys.map((key, place) => named(key, names[place] ?? "")),
];

/** Selects one row per payment and group; in the order of payments, their totals are cheap. */
const selectPayments = (parts: Parts): Expression => {
  const { from, source, where, figures } = parts;
  const id = sql.ref(findName(source, PAYMENT_ID[source]));
  // A row without a payment id is a payment of its own.
  const alone = sql`case when ${id} is null then seq end`;
  const columns = [named(id, "pid"), named(alone, "alone"), ...namedKeys(parts)];
  const measured = figures.flatMap(({ ofPayment }) => ofPayment);
  return sql`select ${list([...columns, named(sql`count(*)`, "n"), ...measured])}
    from ${from} where ${where} group by ${places(columns.length)}`;
};

const COUNTS = [named(sql`count(*)`, "payments"), named(sql`cast(sum(n) as bigint)`, "row_count")];

/** Selects the groups, with the figures that need the rows themselves. */
const selectGroups = (parts: Parts): Expression => {
  const { from, where, names, figures } = parts;
  const keys = [CURRENCY, ...names];
  const columns = list(keys.map((name) => sql.ref(name)));
  const measured = [...COUNTS, ...figures.flatMap(({ ofGroup }) => ofGroup)];
  const groups = sql`select ${columns}, ${list(measured)} from payments group by ${columns}`;
  const ofRows = figures.flatMap((figure) => figure.ofRows);
  if (ofRows.length === 0) return groups;
  const same = keys.map(
    (name) => sql`${sql.ref(`g.${name}`)} is not distinct from ${sql.ref(`v.${name}`)}`,
  );
  const values = figures.flatMap((figure, place) =>
    figure.ofRows.length === 0 ? [] : [sql.ref(`v.f${place}`)],
  );
  return sql`select g.*, ${list(values)} from (${groups}) as g join (
    select ${list([...namedKeys(parts), ...ofRows])} from ${from}
    where ${where} group by ${places(keys.length)}) as v on ${sql.join(same, sql` and `)}`;
};

const DATE_TYPES: ReadonlySet<string> = new Set(["date", "datetime"]);

/** Returns the columns by which groups are ordered, the most significant first. */
const chooseOrder = (
  { groupBy, orderBy, order, measures }: PaymentSummary,
  figures: readonly Figure[],
): [column: string, direction: Direction][] => {
  const keyAt = groupBy.findIndex(({ name }) => name === orderBy);
  if (keyAt !== -1) return [[`k${keyAt}`, order ?? "asc"]];
  if (orderBy === "payments") return [["payments", order ?? "desc"]];
  if (orderBy === "rows") return [["row_count", order ?? "desc"]];
  const named = figures.find(({ measure }) => formatMeasure(measure) === orderBy);
  if (named !== undefined) return [[named.order, order ?? "desc"]];
  const dates = groupBy.flatMap(({ field }, place): [string, Direction][] =>
    DATE_TYPES.has(field.type) ? [[`k${place}`, order ?? "asc"]] : [],
  );
  const first = measures.findIndex(({ op }) => op === "sum");
  const figure = first === -1 ? "payments" : (figures[first]?.order ?? "payments");
  return [...dates, [figure, dates.length > 0 ? "desc" : (order ?? "desc")]];
};

/** Numbers the groups in their order; equal ones are ordered by their keys. */
const rankGroups = (parts: Parts, order: [string, Direction][]): Expression => {
  const ties = [...parts.names, CURRENCY].map((name): [string, Direction] => [name, "asc"]);
  const terms = [...order, ...ties].map(([name, way]) => orderTerm(sql.ref(name), way));
  return sql`select g.*, count(*) over () as groups,
    row_number() over (order by ${list(terms)}) as place from (${selectGroups(parts)}) as g`;
};

/** Whether a payment belongs to several groups. Few do, so they alone are added up again. */
const IS_SHARED = sql`coalesce(pid in (select pid from several), false)`;

/** Selects the total of each currency, in which a payment of several groups counts once. */
const selectTotals = ({ figures }: Parts): Expression => {
  const currency = sql.ref(CURRENCY);
  const parts = figures.flatMap(({ combined }) => combined);
  const values = parts.map(([name]) => sql.ref(name));
  const combined = parts.map(([name, value]) => named(value, name));
  const measured = figures.flatMap(({ ofGroup }) => ofGroup);
  return sql`select ${currency}, ${list([...COUNTS, ...measured])} from (
    select ${list([currency, sql.ref("n"), ...values])} from payments where not ${IS_SHARED}
    union all
    select ${list([currency, sql`sum(n)`, ...combined])} from payments
    where ${IS_SHARED} group by pid, ${currency}) as whole group by ${currency}`;
};

const listFigureColumns = ({ op, field }: Measure, place: number): string[] => {
  if (field === undefined) return [];
  return op === "sum" || op === "avg" ? [`f${place}`, `c${place}`] : [`f${place}`];
};

const SHARED = sql`select pid from payments where pid is not null group by pid having count(*) > 1`;

const OWN = [CURRENCY, "payments", "row_count"];

/**
 * Reads the first groups of a summary in their order, and the totals of the currencies after them. Further measures may
 * follow those of the summary. Date-times are in the days of clocks with the offsets.
 */
export const summarizePayments = async (
  { db, tenantId }: { db: Db; tenantId: string },
  where: RawBuilder<boolean>,
  summary: PaymentSummary,
  { measures, offsets }: { measures: readonly Measure[]; offsets: Offsets },
): Promise<SummaryRow[]> => {
  const { source, groupBy, limit, offset } = summary;
  const figures = createFigures(db, measures);
  const names = keyNames(groupBy.length);
  const keys = groupBy.map((grouping) => toKey(db, grouping, offsets));
  const families = await joinFamilies({ db, tenantId, groupBy: groupBy.map(({ name }) => name) });
  const from = sql`${sql.table(TABLES[source])} as d ${families}`;
  const parts: Parts = { from, source, where, keys, names, figures };
  const order = chooseOrder(summary, figures);
  const values = [...OWN, ...measures.flatMap(listFigureColumns)];
  const nothing = (name: string) => sql`null as ${sql.ref(name)}`;
  const ofRows = figures.map((figure, place) => (figure.ofRows.length > 0 ? `f${place}` : ""));
  const ofGroups = [...values, "groups", "place", ...names].map((name) => sql.ref(name));
  const ofTotals = values.map((name) => (ofRows.includes(name) ? nothing(name) : sql.ref(name)));
  const { rows } = await sql<SummaryRow>`
    with payments as materialized (${selectPayments(parts)}), several as materialized (${SHARED})
    select 0 as is_total, ${list(ofGroups)}, 0 as shared
    from (${rankGroups(parts, order)}) as ranked where place > ${offset} and place <= ${offset + limit}
    union all
    select 1 as is_total, ${list([...ofTotals, sql`0 as groups, 0 as place`, ...names.map(nothing)])},
      (select count(*) from several) as shared
    from (${selectTotals(parts)}) as totals`.execute(db);
  return rows.toSorted((a, b) => a.is_total - b.is_total || a.place - b.place);
};

/** Finds the numbers of the rows with the largest or smallest values of a field, in this order. */
export const findExtremeRows = async (
  db: Db,
  where: RawBuilder<boolean>,
  { source, topRows, topOrder }: PaymentSummary,
  fieldName: string,
): Promise<number[]> => {
  const field = findField(source, fieldName);
  if (field === undefined || topRows === 0) return [];
  const value = sql.ref(findColumn(field).compared);
  const direction = sql.raw(topOrder === "largest" ? "desc" : "asc");
  const { rows } = await sql<{ seq: number }>`
    select seq from ${sql.table(TABLES[source])} as d where ${where} and ${value} is not null
    order by ${value} ${direction}, id limit ${topRows}`.execute(db);
  return rows.map(({ seq }) => seq);
};
