import { formatDay, formatTimestamp, isWritable } from "../../kit/clock.ts";
import { isRecord } from "../../kit/json.ts";
import { MAX_DEPTH } from "../payments/relative-days.ts";
import type { Calendar } from "./calendar.ts";

/** Returns whether a field of payments has a day or a time; undefined for other fields. */
export type DateTypeOf = (field: string) => "date" | "datetime" | undefined;

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:\d\d)$/i;

/** Whether a text is a day that exists. */
const isDay = (value: unknown): value is string => {
  const at = typeof value === "string" && DAY.test(value) ? Date.parse(value) : NaN;
  return isWritable(at) && formatDay(at) === value;
};

const isTime = (value: unknown): value is string =>
  typeof value === "string" && TIME.test(value) && isWritable(Date.parse(value));

type Place = (value: unknown) => unknown;

/** Converts days to their first or last moment, by what the operator says about the day; leaves all else to the check. */
export const placeInTime = (
  condition: Record<string, unknown>,
  calendar: Calendar,
): Record<string, unknown> => {
  const first: Place = (value) => (isDay(value) ? formatTimestamp(calendar.startOf(value)) : value);
  const last: Place = (value) => (isDay(value) ? formatTimestamp(calendar.endOf(value)) : value);
  const { eq } = condition;
  if (isDay(eq) && Object.keys(condition).length === 1) return { between: [first(eq), last(eq)] };
  return Object.fromEntries(
    Object.entries(condition).map(([operator, value]) => {
      if (operator === "lte" || operator === "gt") return [operator, last(value)];
      if (!Array.isArray(value)) return [operator, first(value)];
      const [from, to, ...more] = value;
      if (operator === "between") return [operator, [first(from), last(to), ...more]];
      return [operator, value.map(first)];
    }),
  );
};

/** Converts times to their days. */
const placeInDays = (condition: Record<string, unknown>, calendar: Calendar) => {
  const place: Place = (value) => (isTime(value) ? calendar.toDay(value) : value);
  return Object.fromEntries(
    Object.entries(condition).map(([operator, value]) => [
      operator,
      Array.isArray(value) ? value.map(place) : place(value),
    ]),
  );
};

/**
 * Returns filters with the conditions on days and times replaced, in groups too. What is no filter stays as it is, for
 * the check to refuse.
 */
export const replaceDates = (
  typeOf: DateTypeOf,
  filters: Readonly<Record<string, unknown>>,
  replace: (condition: Record<string, unknown>, type: "date" | "datetime") => unknown,
  depth = 0,
): Record<string, unknown> => {
  const inGroup: Place = (part) =>
    isRecord(part) && depth < MAX_DEPTH ? replaceDates(typeOf, part, replace, depth + 1) : part;
  return Object.fromEntries(
    Object.entries(filters).map(([name, sent]) => {
      if (name === "not") return [name, inGroup(sent)];
      if (name === "and" || name === "or") {
        return [name, Array.isArray(sent) ? sent.map(inGroup) : sent];
      }
      const type = typeOf(name);
      return [name, type === undefined || !isRecord(sent) ? sent : replace(sent, type)];
    }),
  );
};

/**
 * Returns filters of payments in which the tenant's days are ranges of time where a field has the time, a day at the end
 * of a range included, and times are the tenant's days where a field has a date.
 */
export const placeDays = (
  typeOf: DateTypeOf,
  filters: Readonly<Record<string, unknown>>,
  calendar: Calendar,
): Record<string, unknown> =>
  replaceDates(typeOf, filters, (condition, type) =>
    (type === "datetime" ? placeInTime : placeInDays)(condition, calendar),
  );
