import { expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { Problem } from "../../src/contract/errors.ts";
import { TENANT_TIME_ZONE } from "../../src/contract/index.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import type { Settings } from "../../src/config/settings.ts";
import { readTenantCalendar } from "../../src/mcp/tools/tenant-calendar.ts";
import { setTenant } from "../../src/platform/admin/tenants.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";
import { createTenantBroker } from "./each-tool.ts";
import { connectModern, createOptions } from "./hosts.ts";
import { answerIn } from "./insight-host.ts";
import { scriptBroker } from "./script.ts";

const { signal } = new AbortController();

const zoneOf = async (broker: Broker, timeZone?: string, now = 0): Promise<string> => {
  const settings = { timeZone } as Settings;
  return (await readTenantCalendar({ broker, settings, now: () => now, signal })).calendar.zone
    .name;
};

onEveryStore("the time zone of a tenant", (at) => {
  const admin = useTenant(at, "zoned");

  verifies("WK-07");
  it("is that of the platform, read again after 5 minutes, and not that of the setting", async () => {
    const broker = await createTenantBroker({ at: at(), tenantId: "zoned", admin });
    const set = (zone: string) => setTenant({ store: at().store }, "zoned", [`timeZone=${zone}`]);
    await set("America/New_York");
    expect(await zoneOf(broker, "Asia/Kolkata")).toBe("America/New_York");
    await set("Europe/Berlin");
    expect(await zoneOf(broker, "Asia/Kolkata", 5 * MINUTE - 1)).toBe("America/New_York");
    expect(await zoneOf(broker, "Asia/Kolkata", 5 * MINUTE)).toBe("Europe/Berlin");
    await broker.close();
  });
});

verifies("WK-07");
it("is that of the setting on platforms that do not tell it, and UTC without one", async () => {
  const broker = scriptBroker({});
  expect(await zoneOf(broker, "Asia/Kolkata")).toBe("Asia/Kolkata");
  expect(await zoneOf(broker)).toBe("UTC");
  expect(broker.seen).toEqual([]);
});

const announced = (profile: () => unknown) =>
  scriptBroker({ "users.profile": profile }, { tenantId: "mine", extensions: [TENANT_TIME_ZONE] });

it("is that of the setting where the profile lacks the tenant, or names no zone that is known", async () => {
  const other = { tenants: [{ tenantId: "other", timeZone: "Europe/Berlin" }] };
  expect(
    await zoneOf(
      announced(() => other),
      "Asia/Kolkata",
    ),
  ).toBe("Asia/Kolkata");
  const strange = { tenants: [{ tenantId: "mine", timeZone: "Mars/Olympus" }] };
  expect(await zoneOf(announced(() => strange))).toBe("UTC");
});

verifies("WK-07");
it("is named in the filter of every answer, which says so where it cannot be read", async () => {
  const broker = scriptBroker(
    {
      "users.profile": () => {
        throw new Problem("unauthenticated", "No session.");
      },
      "credit_applications.list": () => ({ applications: [], applicationStatusSummary: [] }),
    },
    { extensions: [TENANT_TIME_ZONE] },
  );
  const host = await connectModern(
    await createOptions(broker, { settings: { timeZone: "Asia/Kolkata" } }),
  );
  const { filter, notes } = answerIn(await host.call("credit_queue", {}));
  expect(filter).toMatchObject({ timeZone: "Asia/Kolkata" });
  expect(notes).toContain(
    "Days are those of Asia/Kolkata, because the tenant's time zone cannot be read: No session.",
  );
});
