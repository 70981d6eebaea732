import { DAY, HOUR, MINUTE } from "../../kit/clock.ts";
import type { Dice } from "./dice.ts";

const SATURDAY = 6;
const OPENS_AT = 13 * HOUR;
const OFFICE_MINUTES = 8 * 60;

const startOfDay = (at: number): number => at - (at % DAY);

const backToWeekday = (day: number): number => {
  const weekday = new Date(day).getUTCDay();
  if (weekday === 0) return day - 2 * DAY;
  return weekday === SATURDAY ? day - DAY : day;
};

/** A moment of office hours (UTC; the offices are in America) on the day given or the weekday before. */
export const officeTime = (dice: Dice, at: number, before: number): number => {
  const time = OPENS_AT + dice.whole(0, OFFICE_MINUTES) * MINUTE + dice.whole(0, MINUTE - 1);
  let day = backToWeekday(startOfDay(at));
  while (day + time >= before) day = backToWeekday(day - DAY);
  return day + time;
};

/** The start of the working day so many days ago, or of the last one before it. */
export const workday = (now: number, ageDays: number): number =>
  backToWeekday(startOfDay(now - ageDays * DAY));

export const dateOnly = (at: number): string => new Date(at).toISOString().slice(0, 10);

// Made once: making a formatter costs more than a thousand uses.
const SPOKEN = new Intl.DateTimeFormat("en-US", {
  month: "short",
  day: "numeric",
  timeZone: "UTC",
});

/** As people write it in a note: Nov 24. */
export const spokenDate = (at: number): string => SPOKEN.format(at);
