import { type RawBuilder, sql } from "kysely";
import type { Filter } from "../../../contract/payments/filter.ts";
import type { Scalar } from "../../../contract/payments/value.ts";
import { among } from "../among.ts";
import { containing } from "../audit-logs.ts";
import { fold } from "../fold.ts";
import type { Db } from "../port.ts";
import { type Column, columnFor } from "./columns.ts";

type Condition = RawBuilder<boolean>;
type Is = Extract<Filter, { as: "is" }>;

const HIGHEST = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** The first text after all those that begin with the prefix, by code points; undefined where there is none. */
export const afterPrefix = (prefix: string): string | undefined => {
  const points = [...prefix].map((letter) => letter.codePointAt(0) ?? 0);
  while (points.at(-1) === HIGHEST) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : last + 1;
  return String.fromCodePoint(...points, next);
};

/** A value as the compared column holds it. */
const bound = ({ kept }: Column, value: Scalar): string | number => {
  if (typeof value === "boolean") return value ? 1 : 0;
  return kept === "folded" ? fold(String(value)) : value;
};

const startsWith = (column: RawBuilder<unknown>, prefix: string): Condition => {
  const end = afterPrefix(prefix);
  const from: Condition = sql`${column} >= ${prefix}`;
  return end === undefined ? from : sql`${from} and ${column} < ${end}`;
};

const endsWith = (column: RawBuilder<unknown>, text: string): Condition =>
  sql`${column} like ${containing(text).slice(0, -1)} escape '\\'`;

const listed = (value: Is["value"]): Scalar[] => (Array.isArray(value) ? value : [value]);

/** Folded text finds its rows by the index; the text itself decides. */
const equal = (db: Db, column: Column, values: Scalar[]): Condition => {
  const folded = sql.ref(column.compared);
  const bounds = values.map((value) => bound(column, value));
  const [only] = bounds;
  const isOne = bounds.length === 1 && only !== undefined;
  const found: Condition = isOne ? sql`${folded} = ${only}` : among(db, column.compared, bounds);
  if (column.kept !== "folded") return found;
  const exact = sql.ref(column.name);
  const exactly: Condition = isOne
    ? sql`${exact} = ${String(values[0])}`
    : among(db, column.name, values.map(String));
  return sql`(${found} and ${exactly})`;
};

const other = (db: Db, column: Column, values: Scalar[]): Condition => {
  const exact = column.kept === "folded" ? column.name : column.compared;
  const bounds = values.map((value) =>
    column.kept === "folded" ? String(value) : bound(column, value),
  );
  return sql`not (${among(db, exact, bounds)})`;
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
  contains: (compared, text) => sql`${compared} like ${containing(String(text))} escape '\\'`,
  startsWith: (compared, prefix) => sql`(${startsWith(compared, String(prefix))})`,
  endsWith: (compared, text) => endsWith(compared, String(text)),
};

const isNull = ({ name }: Column, yes: unknown): Condition =>
  yes === true ? sql`${sql.ref(name)} is null` : sql`${sql.ref(name)} is not null`;

/** One condition; a row without a value makes it null, which no filter takes for true. */
export const condition = (db: Db, { field, operator, value }: Is): Condition => {
  const column = columnFor(field);
  const values = listed(value);
  if (operator === "isNull") return isNull(column, value);
  if (operator === "eq" || operator === "in") return equal(db, column, values);
  if (operator === "ne" || operator === "nin") return other(db, column, values);
  const [first = "", last = ""] = values.map((one) => bound(column, one));
  return COMPARISONS[operator](sql.ref(column.compared), first, last);
};

/** A filter as SQL; `not` takes whatever its part is not true of, nulls included. */
export const matches = (db: Db, filter: Filter): Condition => {
  if (filter.as === "is") return condition(db, filter);
  if (filter.as === "not") return sql`(${matches(db, filter.of)}) is not true`;
  const parts = filter.of.map((part) => matches(db, part));
  if (parts.length === 0) return sql`1 = 1`;
  return sql`(${sql.join(parts, filter.as === "all" ? sql` and ` : sql` or `)})`;
};
