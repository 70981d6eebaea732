import { type RawBuilder, sql } from "kysely";
import type { Filter } from "../../../../contract/payments/filter.ts";
import type { Scalar } from "../../../../contract/payments/value.ts";
import { toLikePattern } from "../../engine/search.ts";
import { getDialect } from "../../engine/dialect.ts";
import { fold } from "../../engine/fold.ts";
import type { Db } from "../../port.ts";
import { type Column, findColumn } from "./columns.ts";

type Condition = RawBuilder<boolean>;
type Is = Extract<Filter, { as: "is" }>;

const HIGHEST = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** Returns the lowest text, by code points, above all texts with the prefix; undefined if there is none. */
export const findAfterPrefix = (prefix: string): string | undefined => {
  const points = [...prefix].map((letter) => letter.codePointAt(0) ?? 0);
  while (points.at(-1) === HIGHEST) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : last + 1;
  return String.fromCodePoint(...points, next);
};

/** Returns the value of a filter in the form of the compared column. */
const toBound = ({ storage }: Column, value: Scalar): string | number => {
  if (typeof value === "boolean") return value ? 1 : 0;
  return storage === "folded" ? fold(String(value)) : value;
};

const startsWith = (column: RawBuilder<unknown>, prefix: string): Condition => {
  const end = findAfterPrefix(prefix);
  const from: Condition = sql`${column} >= ${prefix}`;
  return end === undefined ? from : sql`${from} and ${column} < ${end}`;
};

const endsWith = (column: RawBuilder<unknown>, text: string): Condition =>
  sql`${column} like ${toLikePattern(text).slice(0, -1)} escape '\\'`;

const toList = (value: Is["value"]): Scalar[] => (Array.isArray(value) ? value : [value]);

/** The folded text is indexed and finds candidates; the exact text decides. */
const isEqual = (db: Db, column: Column, values: Scalar[]): Condition => {
  const folded = sql.ref(column.compared);
  const bounds = values.map((value) => toBound(column, value));
  const [only] = bounds;
  const isOne = bounds.length === 1 && only !== undefined;
  const found: Condition = isOne
    ? sql`${folded} = ${only}`
    : getDialect(db).isAmong(column.compared, bounds);
  if (column.storage !== "folded") return found;
  const exact = sql.ref(column.name);
  const exactly: Condition = isOne
    ? sql`${exact} = ${String(values[0])}`
    : getDialect(db).isAmong(column.name, values.map(String));
  return sql`(${found} and ${exactly})`;
};

const isNotEqual = (db: Db, column: Column, values: Scalar[]): Condition => {
  const exact = column.storage === "folded" ? column.name : column.compared;
  const bounds = values.map((value) =>
    column.storage === "folded" ? String(value) : toBound(column, value),
  );
  return sql`not (${getDialect(db).isAmong(exact, bounds)})`;
};

type Compare = (
  compared: RawBuilder<unknown>,
  first: string | number,
  last: string | number,
) => Condition;

const COMPARISONS: Record<
  Exclude<Is["operator"], "eq" | "in" | "ne" | "nin" | "isNull">,
  Compare
> = {
  gt: (compared, first) => sql`${compared} > ${first}`,
  gte: (compared, first) => sql`${compared} >= ${first}`,
  lt: (compared, first) => sql`${compared} < ${first}`,
  lte: (compared, first) => sql`${compared} <= ${first}`,
  between: (compared, first, last) => sql`(${compared} >= ${first} and ${compared} <= ${last})`,
  contains: (compared, text) => sql`${compared} like ${toLikePattern(String(text))} escape '\\'`,
  startsWith: (compared, prefix) => sql`(${startsWith(compared, String(prefix))})`,
  endsWith: (compared, text) => endsWith(compared, String(text)),
};

const isNull = ({ name }: Column, yes: unknown): Condition =>
  yes === true ? sql`${sql.ref(name)} is null` : sql`${sql.ref(name)} is not null`;

/** Compiles one condition. It is null, which is not true, for a row without a value. */
export const toCondition = (db: Db, { field, operator, value }: Is): Condition => {
  const column = findColumn(field);
  const values = toList(value);
  if (operator === "isNull") return isNull(column, value);
  if (operator === "eq" || operator === "in") return isEqual(db, column, values);
  if (operator === "ne" || operator === "nin") return isNotEqual(db, column, values);
  const [first = "", last = ""] = values.map((one) => toBound(column, one));
  return COMPARISONS[operator](sql.ref(column.compared), first, last);
};

/** Compiles a filter to SQL. `not` selects every row for which its part is false or null. */
export const matches = (db: Db, filter: Filter): Condition => {
  if (filter.as === "is") return toCondition(db, filter);
  if (filter.as === "not") return sql`(${matches(db, filter.of)}) is not true`;
  const parts = filter.of.map((part) => matches(db, part));
  if (parts.length === 0) return sql`1 = 1`;
  return sql`(${sql.join(parts, filter.as === "all" ? sql` and ` : sql` or `)})`;
};
