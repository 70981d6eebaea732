import { DAY, formatDay } from "../../kit/clock.ts";
import { findTimeZone, type TimeZone, UTC } from "../../kit/time-zone.ts";

/** The spans of time by which dates are grouped; weeks are those of ISO 8601. */
export const UNITS = ["day", "week", "month", "quarter", "year"] as const;
export type Unit = (typeof UNITS)[number];

const DAY_LENGTH = "2026-01-31".length;

/** Whether a text is a day, and no time. */
const isDay = (text: string): boolean => text.length === DAY_LENGTH;

/**
 * The days of a time zone, numbered from 1970-01-01. A day has 23 or 25 hours where clocks change, and none where a
 * zone has crossed the date line. Days in text are `2026-01-31`; times in text have an offset.
 */
export type Calendar = {
  zone: TimeZone;
  /** Returns the number of the day that local clocks show at a moment. */
  dayNumber(moment: number): number;
  /** Returns the days from one moment's day to another's. */
  daysBetween(from: number, to: number): number;
  /** Returns the days that have passed from one moment's day to another's; 0 if the first one is later. */
  countElapsedDays(from: number, to: number): number;
  /** Returns the day of a moment. */
  formatDay(moment: number): string;
  /** Returns the day of a day or a time in text; an unreadable time is cut. */
  toDay(text: string): string;
  /** Returns the first millisecond of a day, or the moment of a time in text. */
  startOf(text: string): number;
  /** Returns the last millisecond of a day, or the moment of a time in text. */
  endOf(text: string): number;
  /** Returns the first millisecond of a numbered day; of the next one, if the zone skipped it. */
  startOfNumber(day: number): number;
};

/** Returns the number of a day in text, which is the same in every zone. */
export const parseDay = (day: string): number => Date.parse(`${day}T00:00:00.000Z`) / DAY;

/** Returns a numbered day as text. */
export const formatDayNumber = (day: number): string => formatDay(day * DAY);

/**
 * Finds the moment after the last one at which local clocks show an earlier day. Where they are set back shortly after
 * midnight, the minutes before belong to the day before.
 */
const findStart = ({ offsetAt, listChanges }: TimeZone, day: number): number => {
  const [from, until] = [(day - 2) * DAY, (day + 2) * DAY];
  const parts = [{ at: -Infinity, offset: offsetAt(from) }, ...listChanges(from, until)];
  const last = parts.findLastIndex(({ at, offset }) => at < day * DAY - offset);
  const end = parts[last + 1]?.at ?? Infinity;
  return Math.min(end, day * DAY - (parts[last]?.offset ?? 0));
};

const createCalendar = (zone: TimeZone): Calendar => {
  const dayNumber = (timestamp: number): number =>
    Math.floor((timestamp + zone.offsetAt(timestamp)) / DAY);
  const daysBetween = (from: number, to: number): number => dayNumber(to) - dayNumber(from);
  const startOfNumber = (day: number): number => findStart(zone, day);
  const toDay = (timestamp: number): string => formatDayNumber(dayNumber(timestamp));
  return {
    zone,
    dayNumber,
    daysBetween,
    countElapsedDays: (from, to) => Math.max(0, daysBetween(from, to)),
    formatDay: toDay,
    toDay(text) {
      const at = isDay(text) ? NaN : Date.parse(text);
      return Number.isNaN(at) ? text.slice(0, DAY_LENGTH) : toDay(at);
    },
    startOf: (text) => (isDay(text) ? startOfNumber(parseDay(text)) : Date.parse(text)),
    endOf: (text) => (isDay(text) ? startOfNumber(parseDay(text) + 1) - 1 : Date.parse(text)),
    startOfNumber,
  };
};

/** The days of UTC, which the documented operations count. */
export const utcCalendar = createCalendar(UTC);

const calendars = new WeakMap<TimeZone, Calendar>([[UTC, utcCalendar]]);

/** Returns the calendar of a time zone by its IANA name; of UTC, if there is none. */
export const openCalendar = (timeZone: string): Calendar => {
  const zone = findTimeZone(timeZone) ?? UTC;
  const calendar = calendars.get(zone) ?? createCalendar(zone);
  calendars.set(zone, calendar);
  return calendar;
};

const THURSDAY = 4;
const WEEK = 7;

const formatWeek = (day: string): string => {
  const at = Date.parse(day);
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
