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

export const dateOnly = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** As people write it in a note: 24 Nov. */
export const spokenDate = (at: number): string =>
  new Date(at).toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
