import type { Calendar } from "../contract/insights/calendar.ts";
import type { Fields } from "./insight.ts";

/** Returns the fields whose value is neither null nor undefined. */
export const omitNulls = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );

/** Returns the fields that have a value, which an empty text is not. */
export const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(omitNulls(fields)).filter(([, value]) => value !== ""));

/** Returns a text with at most so many characters. */
export const cutText = (text: string, most: number): string => {
  const characters = Array.from(text.slice(0, 2 * most + 2));
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
};

/** Returns the day of a date that has no time zone, such as a due date, or null. */
export const toDay = (timestamp: string | null | undefined): string | null =>
  timestamp?.slice(0, "2026-01-31".length) ?? null;

/** Returns the tenant's day of a point in time, or null. */
export const toTenantDay = (
  { toDay: find }: Calendar,
  timestamp: string | null | undefined,
): string | null => (timestamp === null || timestamp === undefined ? null : find(timestamp));
