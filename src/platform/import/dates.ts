import { isWritable } from "../../kit/clock.ts";

/** How a column writes its days: `YYYY`, `M` or `MM`, `D` or `DD`, and what stands between them. */
export type DayPattern = { pattern: string; read(text: string): string | undefined };

const PARTS: Record<string, string> = {
  YYYY: "(?<year>\\d{4})",
  MM: "(?<month>\\d{2})",
  M: "(?<month>\\d{1,2})",
  DD: "(?<day>\\d{2})",
  D: "(?<day>\\d{1,2})",
};

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** The day as `YYYY-MM-DD`, or undefined where the calendar has none such. */
const dayOf = (year: string, month: string, day: string): string | undefined => {
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // February 30 would become March 2.
  const isDay = at.getUTCFullYear() === Number(year) && at.getUTCMonth() === Number(month) - 1;
  return isDay ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : undefined;
};

const REMEMBERED_DAYS = 10_000;

// A ledger has many rows and few days.
const remembering = (read: (text: string) => string | undefined) => {
  const known = new Map<string, string>();
  return (text: string): string | undefined => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const day = read(text);
    if (known.size >= REMEMBERED_DAYS) known.clear();
    if (day !== undefined) known.set(text, day);
    return day;
  };
};

/** Undefined where the pattern does not name year, month and day once each. */
export const dayPattern = (pattern: string): DayPattern | undefined => {
  const parts = pattern.split(/(YYYY|MM|M|DD|D)/);
  const named = parts.filter((part) => part in PARTS).map((part) => part[0]);
  if (named.toSorted().join("") !== "DMY") return undefined;
  const source = parts.map((part) => PARTS[part] ?? escaped(part)).join("");
  const expression = new RegExp(`^${source}$`);
  const read = (text: string): string | undefined => {
    const { year, month, day } = expression.exec(text)?.groups ?? {};
    if (year === undefined || month === undefined || day === undefined) return undefined;
    return dayOf(year, month, day);
  };
  return { pattern, read: remembering(read) };
};

const ISO = /^(\d{4})-(\d{2})-(\d{2})$/;

/** A plain day, or undefined. */
export const isoDay = (text: string): string | undefined => {
  const [, year, month, day] = ISO.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return dayOf(year, month, day);
};

const MOMENT =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** A moment of RFC 3339, or a day as its midnight in UTC; milliseconds since the epoch, or undefined. */
export const readMoment = (text: string): number | undefined => {
  const day = isoDay(text) ?? isoDay(MOMENT.exec(text)?.[1] ?? "");
  if (day === undefined) return undefined;
  const at = Date.parse(text.toUpperCase());
  return isWritable(at) ? Math.floor(at) : undefined;
};

/** The day in UTC of what {@link readMoment} reads. */
export const readDay = (text: string): string | undefined => {
  const at = readMoment(text);
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 10);
};
