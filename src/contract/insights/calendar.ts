import { DAY } from "../../kit/clock.ts";

/** The spans of time by which dates are grouped; weeks are those of ISO 8601. */
export const UNITS = ["day", "week", "month", "quarter", "year"] as const;
export type Unit = (typeof UNITS)[number];

/** Returns the number of a moment's day in UTC. */
export const dayNumber = (moment: number): number => Math.floor(moment / DAY);

/** Returns the days from one moment's day to another's, in UTC. */
export const daysBetween = (from: number, to: number): number => dayNumber(to) - dayNumber(from);

/** Returns the days that have passed from one moment's day to another's, in UTC; 0 if the first one is later. */
export const countElapsedDays = (from: number, to: number): number =>
  Math.max(0, daysBetween(from, to));

/** Returns the first millisecond of a day such as `2026-01-31` in UTC. */
export const startOfDay = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);

/** Returns the last millisecond of a day in UTC. */
export const endOfDay = (day: string): number => startOfDay(day) + DAY - 1;

const THURSDAY = 4;
const WEEK = 7;

const formatWeek = (day: string): string => {
  const at = startOfDay(day);
  const weekday = new Date(at).getUTCDay() || WEEK;
  // The year of a week is that of its Thursday.
  const thursday = new Date(at + (THURSDAY - weekday) * DAY);
  const year = String(thursday.getUTCFullYear()).padStart(4, "0");
  const week = Math.floor((thursday.getTime() - Date.parse(`${year}-01-01`)) / DAY / WEEK) + 1;
  return `${year}-W${String(week).padStart(2, "0")}`;
};

const MONTHS_PER_QUARTER = 3;

/** Returns the key of the span that contains a date: `2023-05-17`, `2023-W20`, `2023-05`, `2023-Q2` or `2023`. */
export const formatSpan = (date: string, unit: Unit): string => {
  const day = date.slice(0, "2023-05-17".length);
  if (unit === "day") return day;
  if (unit === "week") return formatWeek(day);
  const year = day.slice(0, "2023".length);
  if (unit === "year") return year;
  const month = day.slice(0, "2023-05".length);
  if (unit === "month") return month;
  return `${year}-Q${Math.ceil(Number(month.slice(-2)) / MONTHS_PER_QUARTER)}`;
};

const formatRange = (from: number, to: number): string =>
  from === to ? String(from) : `${from}-${to}`;

/** Names the age buckets that end with these days, youngest first: `0-30`, `31-60`, `61+` for `[30, 60]`. */
export const listAgeKeys = (lastDays: readonly number[]): string[] => [
  ...lastDays.map((last, place) =>
    formatRange(place === 0 ? 0 : (lastDays[place - 1] ?? 0) + 1, last),
  ),
  `${(lastDays.at(-1) ?? -1) + 1}+`,
];

/** Names the buckets of days past due: `current` for what is not yet overdue, then `1-30` and so on. */
export const listOverdueKeys = (lastDays: readonly number[]): string[] => {
  const overdue = [0, ...lastDays.filter((last) => last > 0)];
  return ["current", ...listAgeKeys(overdue).slice(1)];
};

/** Returns the place of the bucket that contains an age. */
export const findAgeBucket = (lastDays: readonly number[], days: number): number => {
  const place = lastDays.findIndex((last) => days <= last);
  return place === -1 ? lastDays.length : place;
};
