import { afterEach, expect, it } from "vitest";
import { createdWithin } from "../../src/views/app/board/filters.ts";
import { day, setTenantZone, tenantDay } from "../../src/views/app/format.ts";
import { readResult } from "../../src/views/app/session.ts";
import { verifies } from "../support/verifies.ts";

const LATE = "2026-03-29T22:30:00.000Z";

const answerIn = (timeZone?: string): void => {
  readResult({ content: [], structuredContent: { filter: { timeZone }, items: [] } });
};

afterEach(() => setTenantZone("UTC"));

verifies("WK-07");
it("shows the days of the zone that the last answer names", () => {
  expect([tenantDay(LATE), day(LATE)]).toEqual(["2026-03-29", day("2026-03-29")]);
  answerIn("Europe/Berlin");
  expect([tenantDay(LATE), day(LATE)]).toEqual(["2026-03-30", day("2026-03-30")]);
  answerIn();
  expect(tenantDay(LATE)).toBe("2026-03-30");
  answerIn("Mars/Olympus");
  expect(tenantDay(LATE)).toBe("2026-03-30");
});

verifies("WK-07");
it("filters by the tenant's days of an age bucket", () => {
  answerIn("Europe/Berlin");
  expect(createdWithin("0-30", LATE)).toEqual({
    createdFrom: "2026-02-28",
    createdTo: "2026-03-30",
  });
  expect(createdWithin("91+", "2026-03-29")).toEqual({
    createdFrom: undefined,
    createdTo: "2025-12-28",
  });
});

it("leaves days without a time as they are", () => {
  answerIn("Pacific/Apia");
  expect([tenantDay("2026-03-29"), day("2026-03-29")]).toEqual(["2026-03-29", day("2026-03-29")]);
});
