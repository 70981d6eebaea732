import { afterEach, expect, it } from "vitest";
import { day, setTenantZone, tenantDay } from "../../src/views/app/format.ts";
import { verifies } from "../support/verifies.ts";

const LATE = "2026-03-29T22:30:00.000Z";

afterEach(() => setTenantZone("UTC"));

verifies("WK-07");
it("shows the days of the zone that the last answer names", () => {
  expect([tenantDay(LATE), day(LATE)]).toEqual(["2026-03-29", day("2026-03-29")]);
  setTenantZone("Europe/Berlin");
  expect([tenantDay(LATE), day(LATE)]).toEqual(["2026-03-30", day("2026-03-30")]);
});

it.each([undefined, 1, "Mars/Olympus"])("keeps the zone if the next answer names %j", (zone) => {
  setTenantZone("Europe/Berlin");
  setTenantZone(zone);
  expect(tenantDay(LATE)).toBe("2026-03-30");
});

it("leaves days without a time as they are", () => {
  setTenantZone("Pacific/Apia");
  expect([tenantDay("2026-03-29"), day("2026-03-29")]).toEqual(["2026-03-29", day("2026-03-29")]);
});
