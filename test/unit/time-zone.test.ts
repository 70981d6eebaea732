import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openCalendar, parseDay } from "../../src/contract/insights/calendar.ts";
import { DAY, HOUR } from "../../src/kit/clock.ts";
import { findTimeZone } from "../../src/kit/time-zone.ts";
import { daysApart, localDay, ZONES } from "../support/local-days.ts";
import { verifies } from "../support/verifies.ts";

const moments = fc.integer({ min: Date.UTC(1901, 0, 1), max: Date.UTC(2060, 0, 1) });

describe.each(ZONES)("days of %s", (zone) => {
  const calendar = openCalendar(zone);

  verifies("WK-07");
  it("are those that local clocks show", () => {
    const property = fc.property(moments, moments, (one, other) => {
      expect(calendar.formatDay(one)).toBe(localDay(zone, one));
      expect(calendar.daysBetween(one, other)).toBe(
        daysApart(localDay(zone, one), localDay(zone, other)),
      );
    });
    fc.assert(property, { numRuns: 300 });
  });

  it("follow each other without a gap, and hold the moments between their ends", () => {
    const property = fc.property(moments, (moment) => {
      const day = localDay(zone, moment);
      const [start, end] = [calendar.startOf(day), calendar.endOf(day)];
      expect(start).toBeLessThanOrEqual(moment);
      expect(end).toBeGreaterThanOrEqual(moment);
      expect(localDay(zone, start)).toBe(day);
      expect(localDay(zone, end)).toBe(day);
      expect(localDay(zone, start - 1) < day).toBe(true);
      expect(localDay(zone, end + 1) > day).toBe(true);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

/** Every day of some years, in hours; those with the usual 24 are left out. */
const unusualDays = (zone: string, from: string, to: string): Record<string, number> => {
  const { startOf, endOf } = openCalendar(zone);
  const found: Record<string, number> = {};
  for (let number = parseDay(from); number <= parseDay(to); number += 1) {
    const day = new Date(number * DAY).toISOString().slice(0, 10);
    const hours = (endOf(day) + 1 - startOf(day)) / HOUR;
    if (hours !== 24) found[day] = hours;
  }
  return found;
};

verifies("WK-07");
it.each([
  ["Europe/Berlin", "2026-01-01", { "2026-03-29": 23, "2026-10-25": 25 }],
  ["America/New_York", "2026-01-01", { "2026-03-08": 23, "2026-11-01": 25 }],
  ["Asia/Kolkata", "2026-01-01", {}],
  ["UTC", "2026-01-01", {}],
  ["Pacific/Apia", "2011-01-01", { "2011-04-02": 25, "2011-09-24": 23, "2011-12-30": 0 }],
  ["America/Sao_Paulo", "2018-01-01", { "2018-02-17": 25, "2018-11-04": 23 }],
  ["Australia/Lord_Howe", "2026-01-01", { "2026-04-05": 24.5, "2026-10-04": 23.5 }],
  ["Africa/Casablanca", "2024-01-01", { "2024-03-10": 25, "2024-04-14": 23 }],
])("a year of %s has its days with other hours", (zone, first, days) => {
  expect(unusualDays(zone, first, `${first.slice(0, 4)}-12-31`)).toEqual(days);
});

it("begins a day after the hour that midnight skips", () => {
  const { startOf } = openCalendar("America/Sao_Paulo");
  expect(new Date(startOf("2018-11-04")).toISOString()).toBe("2018-11-04T03:00:00.000Z");
});

it("gives the minutes that clocks repeat over midnight to the day before", () => {
  const { startOf, endOf } = openCalendar("America/St_Johns");
  // Clocks went from 00:01 on 7 November back to 23:01.
  expect(new Date(startOf("2010-11-07")).toISOString()).toBe("2010-11-07T03:30:00.000Z");
  expect(endOf("2010-11-06")).toBe(startOf("2010-11-07") - 1);
});

it("takes a time with its offset for itself", () => {
  const { startOf, endOf, toDay } = openCalendar("Europe/Berlin");
  const time = "2026-01-31T23:30:00-05:00";
  expect([startOf(time), endOf(time)]).toEqual([Date.parse(time), Date.parse(time)]);
  expect([toDay(time), toDay("2026-01-31")]).toEqual(["2026-02-01", "2026-01-31"]);
});

it.each(["Europe/Berlin", "Asia/Kolkata", "America/Argentina/Buenos_Aires", "Etc/GMT+3"])(
  "knows %s",
  (name) => {
    expect(findTimeZone(name)?.name).toBe(name);
  },
);

it("corrects the letter case of a name", () => {
  expect(findTimeZone("europe/berlin")?.name).toBe("Europe/Berlin");
  expect(findTimeZone("utc")?.name).toBe("UTC");
});

it.each(["", "+01:00", "Europe/Nowhere", "Berlin", "Europe/Berlin ", "../etc"])(
  "knows no zone %j",
  (name) => {
    expect(findTimeZone(name)).toBeUndefined();
  },
);
