import { type RawBuilder, sql } from "kysely";
import type { Unit } from "../../../../contract/insights/calendar.ts";
import { DAY, formatTimestamp, SECOND } from "../../../../kit/clock.ts";
import type { OffsetChange } from "../../../../kit/time-zone.ts";
import { getDialect } from "../../engine/dialect.ts";
import type { Db } from "../../port.ts";

export type Expression = RawBuilder<unknown>;
export type Condition = RawBuilder<boolean>;

/** Returns the condition of a value that is given. */
export const given = <T>(value: T | undefined, condition: (value: T) => Condition): Condition[] =>
  value === undefined ? [] : [condition(value)];

/** Converts a number to a whole one: PostgreSQL sums whole numbers to decimals. */
export const whole = (value: Expression): Expression => sql`cast(${value} as bigint)`;

const DAY_LENGTH = 10;

/** The span of time that contains a day, or the day of a date-time, in text. */
export const formatSpan = (db: Db, date: Expression, unit: Unit): Expression => {
  const day = sql<string>`substr(${date}, 1, ${sql.lit(DAY_LENGTH)})`;
  switch (unit) {
    case "day":
      return day;
    case "week":
      return getDialect(db).formatWeek(day);
    case "month":
      return sql`substr(${date}, 1, 7)`;
    case "quarter":
      return sql`substr(${date}, 1, 4) || '-Q' || ((cast(substr(${date}, 6, 2) as integer) + 2) / 3)`;
    default:
      return sql`substr(${date}, 1, 4)`;
  }
};

/** Offsets of local clocks, oldest first; the first one holds for all earlier moments too. */
export type Offsets = readonly OffsetChange[];

/** Whether clocks never differed from UTC. */
const isUtc = (offsets: Offsets): boolean => offsets.every(({ offset }) => offset === 0);

/** The offset at a moment. Most records are young, so the newest offset is tried first. */
const toOffset = (
  timestamp: Expression,
  offsets: Offsets,
  { bound, unit }: { bound: (at: number) => number | string; unit: number },
): Expression => {
  const [first, ...changes] = offsets;
  const oldest = sql.lit((first?.offset ?? 0) / unit);
  if (changes.length === 0) return oldest;
  const cases = changes
    .toReversed()
    .map(
      ({ at, offset }) =>
        sql`when ${timestamp} >= ${sql.lit(bound(at))} then ${sql.lit(offset / unit)}`,
    );
  return sql`case ${sql.join(cases, sql` `)} else ${oldest} end`;
};

/** A column of moments as local clocks show them. */
const toLocal = (timestamp: Expression, offsets: Offsets): Expression =>
  isUtc(offsets)
    ? timestamp
    : sql`(${timestamp} + ${toOffset(timestamp, offsets, { bound: (at) => at, unit: 1 })})`;

/** The local day, in text, of a column of date-times that are text in UTC. */
export const localDayOf = (db: Db, time: Expression, offsets: Offsets): Expression => {
  if (isUtc(offsets)) return time;
  const seconds = toOffset(time, offsets, { bound: formatTimestamp, unit: SECOND });
  return getDialect(db).formatLater(time, seconds);
};

/** Division in SQL rounds towards zero; so many days later than any moment, that is down. */
const SHIFT_DAYS = 1_000_000;

/** The number of the day that local clocks show. */
export const dayNumberOf = (timestamp: Expression, offsets: Offsets): RawBuilder<number> => {
  const shifted = sql`${toLocal(timestamp, offsets)} + ${sql.lit(SHIFT_DAYS * DAY)}`;
  return sql`((${shifted}) / ${sql.lit(DAY)} - ${sql.lit(SHIFT_DAYS)})`;
};

/** The place of the first bucket whose last day is not exceeded. */
export const findBucket = (days: Expression, lastDays: readonly number[]): Expression => {
  const cases = lastDays.map(
    (last, place) => sql`when ${days} <= ${sql.lit(last)} then ${sql.lit(place)}`,
  );
  return sql`case ${sql.join(cases, sql` `)} else ${sql.lit(lastDays.length)} end`;
};

export type Direction = "asc" | "desc";

/** A term of an order, with nulls last in both databases. */
export const orderTerm = (value: Expression, direction: Direction): Expression =>
  sql`${value} is null, ${value} ${sql.raw(direction)}`;

/**
 * Returns the order of groups with the columns `k…` and `amount_order`: by a grouping or a figure if the summary names
 * one, else by the groupings that `isAscending` names, and the amount.
 */
export const chooseOrder = <Grouping extends string>(
  {
    groupBy,
    orderBy,
    order,
  }: {
    groupBy: readonly Grouping[];
    orderBy?: string | undefined;
    order?: Direction | undefined;
  },
  figures: Partial<Record<string, Expression>>,
  isAscending: (grouping: Grouping) => boolean,
): Expression[] => {
  const term = (value: Expression, usual: Direction) => orderTerm(value, order ?? usual);
  const keyAt = groupBy.findIndex((name) => name === orderBy);
  if (keyAt !== -1) return [term(sql.ref(`k${keyAt}`), "asc")];
  const figure = figures[orderBy ?? ""];
  if (figure !== undefined) return [term(figure, "desc")];
  const dates = groupBy.flatMap((name, place) =>
    isAscending(name) ? [term(sql.ref(`k${place}`), "asc")] : [],
  );
  const amount = sql`amount_order`;
  return dates.length > 0 ? [...dates, orderTerm(amount, "desc")] : [term(amount, "desc")];
};

/** Names an expression. */
export const named = (value: Expression, name: string): Expression =>
  sql`${value} as ${sql.ref(name)}`;

export const list = (parts: readonly Expression[]): Expression => sql`${sql.join(parts)}`;

/**
 * Selects a key of groups. Hidden from the choice of an index: one that has the order of the groups would give all rows
 * of a tenant, one of the filter gives few.
 */
export const groupKey = (value: Expression, name: string): Expression =>
  named(sql`coalesce(${value}, null)`, name);

/** Names the columns of the groupings: `k0`, `k1` and so on. */
export const keyNames = (count: number): string[] =>
  Array.from({ length: count }, (_, place) => `k${place}`);
