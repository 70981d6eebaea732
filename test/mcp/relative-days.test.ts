import { describe, expect, it } from "vitest";
import { TENANT_TIME_ZONE } from "../../src/contract/index.ts";
import { RELATIVE_DAYS } from "../../src/contract/payments/relative-days.ts";
import { HOUR } from "../../src/kit/clock.ts";
import { connectModern, createOptions, NOW, readProblem } from "./hosts.ts";
import { createMany, serveAuditPages } from "./records.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

// November 20 in UTC, and November 19 in New York.
const EARLY = NOW - 8 * HOUR;
const ZONE = "America/New_York";
const WEEK = { paymentDate: { gte: { daysAgo: 7 }, lt: { days_ago: 0 } } };
const KNOWN = { paymentDate: { gte: { daysAgo: 7 }, lt: { daysAgo: 0 } } };
const args = { source: "cashapp", filters: WEEK };

const open = async (extensions: readonly string[]) => {
  const clock = { now: EARLY };
  const profile = { tenants: [{ tenantId: "tenant-1", timeZone: ZONE }] };
  const broker = scriptBroker(
    {
      "users.profile": () => profile,
      "payments.query": serveAuditPages(createMany(400, (n) => ({ payerName: "A", n }))),
      "schedules.create": (sent) => ({ id: "s", tenantId: "t", ...sent }),
    },
    { extensions: [TENANT_TIME_ZONE, ...extensions] },
  );
  const settings = { answerTokens: 3000 };
  const host = await connectModern(await createOptions(broker, { settings, now: () => clock.now }));
  const sent = (id: string) =>
    broker.seen.filter((one) => one.id === id).map((one) => one.args["filters"]);
  return { clock, host, sent };
};

describe("days relative to the run, over MCP", () => {
  verifies("WK-44");
  it("are left to a platform that knows them", async () => {
    const { host, sent } = await open([RELATIVE_DAYS]);
    await host.call("payments_query", args);
    const made = await host.call("schedules_create", { ...args, intervalMs: 604_800_000 });
    expect(made.isError).not.toBe(true);
    expect([...sent("payments.query"), ...sent("schedules.create")]).toEqual(
      expect.arrayContaining([KNOWN]),
    );
    expect(sent("schedules.create")).toEqual([KNOWN]);
  });

  verifies("WK-44");
  it("are the tenant's days where the platform does not, on all pages those of the first", async () => {
    const { clock, host, sent } = await open([]);
    const week = { paymentDate: { gte: "2026-11-12", lt: "2026-11-19" } };
    const first = await host.call("payments_query", args);
    const { pagination } = first.structuredContent as { pagination: { cursor: string } };
    const { cursor } = pagination;
    clock.now += 21 * HOUR;
    await host.call("payments_query", { ...args, cursor });
    expect(new Set(sent("payments.query").map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(week)]),
    );
    await host.call("payments_query", args);
    expect(sent("payments.query").at(-1)).toEqual({
      paymentDate: { gte: "2026-11-13", lt: "2026-11-20" },
    });
  });

  verifies("WK-44");
  it("are computed for summaries, and refused for schedules with the reason", async () => {
    const { host, sent } = await open([]);
    const summary = await host.call("payments_summarize", args);
    expect(summary.structuredContent).toMatchObject({
      filter: { paymentDate: { gte: "2026-11-12", lt: "2026-11-19" } },
    });
    expect(sent("payments.query").length).toBeGreaterThan(0);
    const refused = await host.call("schedules_create", { ...args, intervalMs: 604_800_000 });
    expect(readProblem(refused)).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining(
        "filters has days relative to the run, which this platform does not know",
      ),
    });
    expect(sent("schedules.create")).toEqual([]);
  });
});
