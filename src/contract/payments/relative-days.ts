import { isRecord } from "../../kit/json.ts";
import type { Source } from "./catalogue.ts";

/** The name under which a platform announces that filters of payments take days relative to the run. */
export const RELATIVE_DAYS = "payments.query.relative_days";

/** A thousand years. */
export const MAX_DAYS_AGO = 366_000;

/** Returns filters with the days of a run in place of days relative to it. */
export type PlaceFilters = (source: Source, filters: unknown) => unknown;

/** A day relative to the run: so many days before its day. */
export type RelativeDay = { daysAgo: number };

/** Whether a value is meant as a relative day, valid or not. */
export const isMeantRelative = (value: unknown): value is Record<"daysAgo", unknown> =>
  isRecord(value) && Object.hasOwn(value, "daysAgo");

/** Whether a value is a valid relative day. */
export const isRelative = (value: unknown): value is RelativeDay => {
  if (!isMeantRelative(value) || Object.keys(value).length > 1) return false;
  const { daysAgo } = value;
  return Number.isInteger(daysAgo) && Number(daysAgo) >= 0 && Number(daysAgo) <= MAX_DAYS_AGO;
};

/** Deeper filters are refused. */
export const MAX_DEPTH = 20;

/** Whether filters have a day relative to the run. */
export const hasRelativeDays = (filters: unknown, depth = 0): boolean => {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(filters)) return filters.some((one) => hasRelativeDays(one, depth + 1));
  if (!isRecord(filters)) return false;
  return (
    isMeantRelative(filters) ||
    Object.values(filters).some((one) => hasRelativeDays(one, depth + 1))
  );
};
