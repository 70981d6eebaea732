import { isWritable } from "../../kit/clock.ts";

/** The date format of a column: `YYYY`, `M` or `MM`, `D` or `DD`, with literal text between them. */
export type DayPattern = { pattern: string; read(text: string): string | undefined };

const PARTS: Record<string, string> = {
  YYYY: "(?<year>\\d{4})",
  MM: "(?<month>\\d{2})",
  M: "(?<month>\\d{1,2})",
  DD: "(?<day>\\d{2})",
  D: "(?<day>\\d{1,2})",
};

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Formats a day as `YYYY-MM-DD`; undefined if the calendar does not have it. */
export const formatDay = (year: string, month: string, day: string): string | undefined => {
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // February 30 would become March 2.
  const isDay = at.getUTCFullYear() === Number(year) && at.getUTCMonth() === Number(month) - 1;
  return isDay ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : undefined;
};

const MAX_CACHED_DAYS = 10_000;

// A ledger has many rows and few distinct days.
const cacheDays = (read: (text: string) => string | undefined) => {
  const known = new Map<string, string>();
  return (text: string): string | undefined => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const day = read(text);
    if (known.size >= MAX_CACHED_DAYS) known.clear();
    if (day !== undefined) known.set(text, day);
    return day;
  };
};

/** Parses a pattern; undefined unless it names year, month and day exactly once each. */
export const parseDayPattern = (pattern: string): DayPattern | undefined => {
  const parts = pattern.split(/(YYYY|MM|M|DD|D)/);
  const named = parts.filter((part) => part in PARTS).map((part) => part[0]);
  if (named.toSorted().join("") !== "DMY") return undefined;
  const source = parts.map((part) => PARTS[part] ?? escapePattern(part)).join("");
  const expression = new RegExp(`^${source}$`);
  const read = (text: string): string | undefined => {
    const { year, month, day } = expression.exec(text)?.groups ?? {};
    if (year === undefined || month === undefined || day === undefined) return undefined;
    return formatDay(year, month, day);
  };
  return { pattern, read: cacheDays(read) };
};

const ISO = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Parses a day as `YYYY-MM-DD`; undefined if the text is anything else. */
export const parseIsoDay = (text: string): string | undefined => {
  const [, year, month, day] = ISO.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return formatDay(year, month, day);
};

const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an RFC 3339 timestamp, or a day as its midnight in UTC, to milliseconds since the epoch; else undefined. */
export const parseTimestamp = (text: string): number | undefined => {
  const day = parseIsoDay(text) ?? parseIsoDay(TIMESTAMP.exec(text)?.[1] ?? "");
  if (day === undefined) return undefined;
  const at = Date.parse(text.toUpperCase());
  return isWritable(at) ? Math.floor(at) : undefined;
};

/** Returns the UTC day of a timestamp or day that {@link parseTimestamp} accepts. */
export const parseDay = (text: string): string | undefined => {
  const at = parseTimestamp(text);
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 10);
};
