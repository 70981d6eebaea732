import { beforeAll, expect, it } from "vitest";
import { extensions } from "../../src/contract/index.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { receivablesKpis } from "../../src/insights/receivables-kpis.ts";
import { importDisputes } from "../support/importing.ts";
import { createTestContext, runInsight } from "../support/insights.ts";
import { ndjson } from "../support/payment-rows.ts";
import { onEveryStore, useTenant } from "../support/platform.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "reopenings";
/** More than a page of the audit log. */
const COUNT = 2100;

onEveryStore("many reopenings", (at) => {
  const admin = useTenant(at, TENANT);

  const load = async (ended: object): Promise<void> => {
    const rows = Array.from({ length: COUNT }, (_, number) => ({
      sourceKey: `claim-${number}`,
      accountNumber: "A-1",
      documentNumber: `INV-${number}`,
      amount: 10,
      currencyCode: "EUR",
      categoryCode: "PRICE",
      reasonCode: "WRONG",
      createDate: "2026-01-05",
      ...ended,
    }));
    const options = { format: "ndjson" as const, createConfiguration: true };
    const { rejects } = await importDisputes(at(), TENANT, ndjson(rows), options);
    expect(rejects).toEqual([]);
  };

  beforeAll(async () => {
    await load({ status: 1, closedDate: "2026-01-20" });
    await load({ status: 0 });
  });

  verifies("IN-21", "WK-61", "WK-70");
  it.each([
    { by: "the platform", offered: extensions },
    { by: "its lists", offered: [] },
  ])("are all taken into account by $by", async ({ offered }) => {
    const context = await createTestContext(at(), TENANT, admin, { extensions: new Set(offered) });
    const openAt = async (asOf: string): Promise<unknown> => {
      const summary = await runInsight(disputesSummary, context, { asOf, status: "Open" });
      expect(summary.notes.join(" ")).not.toContain("reopen");
      return summary.rowCount;
    };
    expect(await openAt("2026-01-19")).toBe(COUNT);
    expect(await openAt("2026-01-31")).toBe(0);
    const past = { account: "A-1", asOf: "2026-01-31" };
    const { items } = await runInsight(accountOverview, context, past);
    expect(items[0]).toMatchObject({ disputes: { open: { count: 0 }, closed: { count: COUNT } } });
    const span = { from: "2026-01-01", to: "2026-01-31", limit: 200 };
    const kpis = await runInsight(receivablesKpis, context, span);
    expect(kpis.items.find(({ measure }) => measure === "reopenedShare")).toMatchObject({
      numerator: null,
      reason: "The audit log does not reach back to that day.",
    });
  });
});
