import { isRecord } from "../../kit/json.ts";
import { findField, type Source } from "../payments/catalogue.ts";
import { isRelative, type PlaceFilters } from "../payments/relative-days.ts";
import { type Calendar, formatDayNumber } from "./calendar.ts";
import { type DateTypeOf, placeInTime, replaceDates } from "./payment-days.ts";

export const dateTypesOf =
  (source: Source): DateTypeOf =>
  (name) => {
    const type = findField(source, name)?.type;
    return type === "date" || type === "datetime" ? type : undefined;
  };

/** The day of a run: of the tenant, at a moment in epoch milliseconds. */
export type RunDay = { calendar: Calendar; now: number };

type Condition = Record<string, unknown>;

const hasRelative = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isRelative) : isRelative(value);

/** Returns a condition with days in place of relative ones; of a field with times, with the moments of these days. */
const placeCondition = (
  condition: Condition,
  type: "date" | "datetime",
  { calendar, now }: RunDay,
): Condition => {
  const today = calendar.dayNumber(now);
  const toDay = (value: unknown): unknown =>
    isRelative(value) ? formatDayNumber(today - value.daysAgo) : value;
  const operators = Object.entries(condition);
  return Object.fromEntries(
    operators.flatMap(([operator, value]): [string, unknown][] => {
      if (!hasRelative(value)) return [[operator, value]];
      const placed = Array.isArray(value) ? value.map(toDay) : toDay(value);
      if (type === "date") return [[operator, placed]];
      const inTime = placeInTime({ [operator]: placed }, calendar);
      // Two operators of one name would be one.
      const isTaken = Object.keys(inTime).some((one) => one !== operator && one in condition);
      return isTaken ? [[operator, placed]] : Object.entries(inTime);
    }),
  );
};

/**
 * Returns filters of payments with the days of a run in place of days relative to it. What is no valid relative day of a
 * field with days or times stays as it is, for the check to refuse.
 */
export const placeRelativeDays = (source: Source, filters: unknown, run: RunDay): unknown =>
  isRecord(filters)
    ? replaceDates(dateTypesOf(source), filters, (condition, type) =>
        placeCondition(condition, type, run),
      )
    : filters;

/** Returns the placing of relative days for one run. */
export const createPlacing =
  (run: RunDay): PlaceFilters =>
  (source, filters) =>
    placeRelativeDays(source, filters, run);
