import { beforeAll, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { accountStatement } from "../../src/insights/account-statement.ts";
import { changesSince } from "../../src/insights/changes-since.ts";
import { deductionsWithoutDispute } from "../../src/insights/deductions-without-dispute.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { documentsSummary } from "../../src/insights/documents-summary.ts";
import type { Insight } from "../../src/insights/insight.ts";
import { SECOND } from "../../src/kit/clock.ts";
import { importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "future";
const DAY = "2099-01-31";

onEveryStore("days that have not come", (at) => {
  const admin = useTenant(at, TENANT);
  let context: TestContext;

  beforeAll(async () => {
    const accounts = [{ account_number: "A-1", name: "Acme", currency: "EUR" }];
    const how = { format: "ndjson" as const };
    await importRecords(at(), TENANT, "accounts", ndjson(accounts), how);
    context = await createTestContext(at(), TENANT, admin, { extensions: new Set(extensions) });
  });

  verifies("WK-30", "WK-31", "WK-40", "WK-80");
  it.each([
    [documentsSummary, { asOf: DAY }, "ages are those of that day, all else is that of now"],
    [disputesSummary, { asOf: DAY }, "ages are those of that day, all else is that of now"],
    [accountOverview, { account: "A-1", asOf: DAY }, "ages are those of that day"],
    [accountStatement, { account: "A-1", to: DAY }, "the closing balance is that of now"],
    [changesSince, { since: DAY }, "Nothing matches, because since"],
    [deductionsWithoutDispute, { from: DAY }, "Nothing matches, because from"],
  ] as [Insight, Record<string, unknown>, string][])(
    "$0.title says of %j what its figures are",
    async (insight, args, note) => {
      const { notes } = await runInsight(insight, context, args);
      const [own, ...others] = notes.filter((one) => one.includes(`${DAY} has not come`));
      expect(own).toContain(note);
      expect(others).toEqual([]);
      expect(notes.join(" ")).not.toMatch(/unknown|before startDate/);
    },
  );

  it.each([
    [documentsSummary, {}],
    [disputesSummary, {}],
    [accountOverview, { account: "A-1" }],
  ] as [Insight, Record<string, unknown>][])(
    "and past days are not named in an answer about now, though the clock goes on: $0.title",
    async (insight, args) => {
      let seconds = 0;
      const now = () => at().clock() + ++seconds * SECOND;
      const { notes } = await runInsight(insight, { ...context, now }, args);
      expect(seconds).toBeGreaterThan(0);
      expect(notes.join(" ")).not.toMatch(/that day|has not come/);
    },
  );

  it("are not mentioned of today", async () => {
    const asOf = new Date(at().clock()).toISOString().slice(0, DAY.length);
    const { notes } = await runInsight(documentsSummary, context, { asOf });
    expect(notes.join(" ")).not.toContain("has not come");
  });
});
