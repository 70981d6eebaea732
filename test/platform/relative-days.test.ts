import { beforeAll, describe, expect, it } from "vitest";
import { openCalendar } from "../../src/contract/insights/calendar.ts";
import { placeRelativeDays } from "../../src/contract/insights/relative-days.ts";
import { hasRelativeDays, RELATIVE_DAYS } from "../../src/contract/payments/relative-days.ts";
import { DAY, formatDay, formatTimestamp, HOUR, MINUTE } from "../../src/kit/clock.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { exportingTenant, EXPORTS, SCHEDULES } from "../support/exports.ts";
import { setUpExportRuns } from "../support/export-runs.ts";
import { load, QUERY, SUMMARY } from "../support/payment-rows.ts";
import { type Caller, onEveryStore } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const ZONE = "Europe/Berlin";
const WEEK = { paymentDate: { gte: { daysAgo: 7 }, lt: { daysAgo: 0 } } };

describe("days relative to the run", () => {
  const place = (now: string, filters: object) =>
    placeRelativeDays("cashapp", filters, { calendar: openCalendar(ZONE), now: Date.parse(now) });

  verifies("WK-44");
  it.each([
    ["before the clocks are set forward", "2026-03-28T22:30:00Z", "2026-03-21", "2026-03-28"],
    ["in the first minutes of that day", "2026-03-28T23:30:00Z", "2026-03-22", "2026-03-29"],
    ["at the end of that day", "2026-03-29T21:30:00Z", "2026-03-22", "2026-03-29"],
    ["after it", "2026-03-29T22:00:00Z", "2026-03-23", "2026-03-30"],
    ["before the clocks are set back", "2026-10-24T22:30:00Z", "2026-10-18", "2026-10-25"],
    ["at the end of that day", "2026-10-25T22:59:59Z", "2026-10-18", "2026-10-25"],
    ["after it", "2026-10-25T23:00:00Z", "2026-10-19", "2026-10-26"],
  ])("are those of the tenant %s, %s", (_when, now, gte, lt) => {
    expect(place(now, WEEK)).toEqual({ paymentDate: { gte, lt } });
    const nested = { not: { or: [WEEK, { payerName: { eq: "A" } }] } };
    expect(place(now, nested)).toEqual({
      not: { or: [{ paymentDate: { gte, lt } }, { payerName: { eq: "A" } }] },
    });
  });

  it("are whole days of 23 and 25 hours where a field has times", () => {
    const today = { updatedAt: { eq: { daysAgo: 0 } } };
    const hours = ["2026-03-29T12:00:00Z", "2026-10-25T12:00:00Z"].map((now) => {
      const placed = place(now, today) as { updatedAt: { between: [string, string] } };
      const [from, to] = placed.updatedAt.between;
      return (Date.parse(to) + 1 - Date.parse(from)) / HOUR;
    });
    expect(hours).toEqual([23, 25]);
  });

  it("stay where they are no valid ones", () => {
    const filters = { payerName: { eq: { daysAgo: 1 } }, paymentDate: { eq: { daysAgo: -1 } } };
    expect(place("2026-03-29T12:00:00Z", filters)).toEqual(filters);
    expect(hasRelativeDays(filters)).toBe(true);
    expect(hasRelativeDays({ paymentDate: { eq: "2026-01-01" } })).toBe(false);
  });
});

onEveryStore("payments of days relative to the run", (at) => {
  const { worker } = setUpExportRuns(at, 0);
  let call: Caller;
  const FIRST = Date.UTC(2026, 9, 10);

  beforeAll(async () => {
    at().clock.set("2026-10-25T21:30:00.000Z");
    call = await exportingTenant(at(), "relative", 0);
    await setTenant({ store: at().store }, "relative", [`timeZone=${ZONE}`]);
    const days = Array.from({ length: 20 }, (_, place) => formatDay(FIRST + place * DAY));
    await load(
      at(),
      "relative",
      "cashapp",
      days.map((paymentDate) => ({
        id: paymentDate,
        paymentId: paymentDate,
        paymentDate,
        paymentAmount: 1,
        currencyCode: "EUR",
      })),
    );
  });

  const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);
  const week = (last: number): string[] =>
    Array.from({ length: 7 }, (_, place) => `2026-10-${last - 6 + place}`);

  verifies("WK-44");
  it("are announced, queried, summarized and refused where they are wrong", async () => {
    expect((await call("GET", "/health")).body.extensions).toContain(RELATIVE_DAYS);
    const body = { source: "cashapp", fields: ["id"], filters: WEEK };
    const first = await call("POST", QUERY, { body: { ...body, limit: 4 } });
    expect(idsOf(first.body)).toEqual(week(24).slice(0, 4));
    // The pages of a query keep the days of its first one.
    at().clock.advance(2 * HOUR);
    const { cursor } = first.body.pagination;
    const second = await call("POST", QUERY, { body: { ...body, limit: 4, cursor } });
    expect([second.status, idsOf(second.body)]).toEqual([200, week(24).slice(4)]);
    expect(idsOf((await call("POST", QUERY, { body })).body)).toEqual(week(25));
    const summary = await call("POST", SUMMARY, { body: { source: "cashapp", filters: WEEK } });
    expect(summary.body).toMatchObject({
      rowCount: 7,
      filter: { paymentDate: { gte: "2026-10-19", lt: "2026-10-26" }, timeZone: ZONE },
    });
    const wrong = {
      paymentDate: { gte: { daysAgo: 1.5 }, in: [{ daysAgo: 0 }, { daysAgo: -1 }] },
      payerName: { eq: { daysAgo: 1 } },
    };
    const refused = await call("POST", QUERY, { body: { ...body, filters: wrong } });
    expect(refused.status).toBe(400);
    for (const words of [
      'filters.paymentDate.gte must be {"daysAgo": N} with a whole number of days',
      "filters.paymentDate.in[1] must be ",
      "filters.payerName.eq takes no days",
    ]) {
      expect(JSON.stringify(refused.body).replaceAll('\\"', '"')).toContain(words);
    }
  });

  verifies("WK-44");
  it("are those of each run of a schedule, also of one that is tried again after midnight", async () => {
    at().clock.set("2026-10-25T22:50:00.000Z");
    const body = {
      source: "cashapp",
      fields: ["id"],
      filters: WEEK,
      intervalMs: DAY,
      firstRunAt: formatTimestamp(at().clock()),
    };
    const made = await call("POST", SCHEDULES, { body });
    expect(made.body).toMatchObject({ filters: WEEK });
    const data = async () =>
      idsOf((await call("GET", `${EXPORTS}/export-runs/${made.body.id}/data`)).body);
    let failures = 1;
    const finished = async (): Promise<void> => {
      failures -= 1;
      if (failures >= 0) throw new Error("interrupted");
    };
    const one = worker({ finished });
    await one.runDue();
    at().clock.advance(20 * MINUTE);
    await one.runDue();
    expect(await data()).toEqual(week(24));
    at().clock.advance(DAY);
    await one.runDue();
    expect(await data()).toEqual(week(26));
    await call("DELETE", `${SCHEDULES}/${made.body.id}`);
  });
});
