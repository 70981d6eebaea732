import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Broker } from "../../src/broker/port.ts";
import { accountOverview } from "../../src/insights/account-overview.ts";
import { disputesSummary } from "../../src/insights/disputes-summary.ts";
import { disputesTriage } from "../../src/insights/disputes-triage.ts";
import { documentsSummary } from "../../src/insights/documents-summary.ts";
import type { Insight, InsightResult } from "../../src/insights/insight.ts";
import { paymentsMatchDisputes } from "../../src/insights/payments-match-disputes.ts";
import { paymentsSummarize } from "../../src/insights/payments-summarize.ts";
import { insightAnswer } from "../../src/mcp/results/insight-answer.ts";
import { createTenantBroker } from "../mcp/each-tool.ts";
import { connectModern, createOptions, type Host } from "../mcp/hosts.ts";
import { answerIn } from "../mcp/insight-host.ts";
import { FORTY } from "../support/forty-questions.ts";
import { FOURTEEN } from "../support/fourteen-questions.ts";
import { BEYOND, FURTHER } from "../support/further-questions.ts";
import { importDisputes, importRecords } from "../support/importing.ts";
import { createTestContext, runInsight, type TestContext } from "../support/insights.ts";
import { invoices, ledgerCsv, ledgerMap, recordMaps } from "../support/ledger.ts";
import { o200kTokens } from "../support/o200k.ts";
import { load } from "../support/payment-rows.ts";
import { randomPayments, toDatabase } from "../support/payment-sql.ts";
import { startPlatform, type TestPlatform } from "../support/platform.ts";
import { addDocuments, addLedger, type Question, type Tool } from "../support/questions.ts";
import { verifies } from "../support/verifies.ts";

const TENANT = "questions";
const SEEN = "2025-09-30";
const PAID_BY = "2025-10-15";
const MOST_TOKENS = 2000;
const MOST_CALLS = 3;

const TOOLS: Record<Tool, Insight> = {
  payments_summarize: paymentsSummarize,
  disputes_summary: disputesSummary,
  disputes_triage: disputesTriage,
  account_overview: accountOverview,
  documents_summary: documentsSummary,
  payments_match_disputes: paymentsMatchDisputes,
};

const ledger = invoices(29, 900);

describe("everyday questions over a ledger and payments", () => {
  let at: TestPlatform;
  let context: TestContext;
  let broker: Broker;
  let host: Host;
  let database: DatabaseSync;

  beforeAll(async () => {
    at = await startPlatform();
    const admin = await at.tenant(TENANT);
    context = await createTestContext(at, TENANT, admin);
    broker = await createTenantBroker({ at, tenantId: TENANT, admin });
    host = await connectModern(await createOptions(broker, { now: at.clock }));
    const maps = recordMaps(PAID_BY);
    for (const kind of ["accounts", "documents", "closures"] as const) {
      await importRecords(at, TENANT, kind, ledgerCsv(ledger), { map: maps[kind] });
    }
    const how = { map: ledgerMap(SEEN), createConfiguration: true };
    const { rejects } = await importDisputes(at, TENANT, ledgerCsv(ledger), how);
    if (rejects.length > 0) throw new Error(JSON.stringify(rejects[0]));
    const cashapp = randomPayments("cashapp", 600, 41);
    const bpn = randomPayments("bpn", 300, 42);
    await load(at, TENANT, "cashapp", cashapp);
    await load(at, TENANT, "bpn", bpn);
    database = toDatabase("cashapp", cashapp);
    addLedger(database, ledger, SEEN);
    addDocuments(database, ledger, PAID_BY);
    database.exec(`create table b (payment, "payerId", "currencyCode", "paymentAmount")`);
    const insert = database.prepare("insert into b values (?, ?, ?, ?)");
    for (const row of bpn) {
      const { networkPaymentId, payerId = null, currencyCode = null, paymentAmount = null } = row;
      const amount = paymentAmount === null ? null : Math.round(Number(paymentAmount) * 1e6);
      insert.run(
        ...([networkPaymentId, payerId, currencyCode, amount] as (string | number | null)[]),
      );
    }
  });
  afterAll(async () => {
    database?.close();
    await host?.close();
    await broker?.close();
    await at?.close();
  });

  const rounded = (rows: unknown[][]) =>
    rows.map((row) =>
      row.map((value) => (typeof value === "number" ? Number(value.toFixed(6)) : value)),
    );

  const expectedBy = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row));

  const answer = async ([, tool, args, read, sql]: Question) => {
    // An account's open documents are known only where the platform lists documents.
    const extensions = new Set(tool === "account_overview" ? ["documents.list"] : []);
    const result = await runInsight(TOOLS[tool], { ...context, extensions }, args);
    const expected = expectedBy(sql);
    const { structured } = insightAnswer(result, { tokens: MOST_TOKENS });
    return {
      figures: rounded(read(result)),
      expected: rounded(expected),
      tokens: o200kTokens(structured),
      isWhole: !result.truncated && expected.length > 0,
    };
  };

  verifies("IN-90");
  it.each(FOURTEEN)("answers in one call: %s", async (...question) => {
    const { figures, expected, tokens, isWhole } = await answer(question);
    expect(figures).toEqual(expected);
    expect(isWhole).toBe(true);
    expect(tokens).toBeLessThanOrEqual(MOST_TOKENS);
  });

  it.each(FORTY)("answers in one call, too: %s", async (...question) => {
    const { figures, expected, tokens, isWhole } = await answer(question);
    expect(figures).toEqual(expected);
    expect(isWhole).toBe(true);
    expect(tokens).toBeLessThanOrEqual(MOST_TOKENS);
  });

  verifies("IN-90");
  it.each(FOURTEEN)("answers a host: %s", async (_question, tool, args, read, sql) => {
    const answered = answerIn(await host.call(tool, args));
    expect(rounded(read(answered))).toEqual(rounded(expectedBy(sql)));
    expect(answered.truncated).toBe(false);
  });

  verifies("IN-90");
  it.each(FURTHER.map((one) => [one.who, one.question, one] as const))(
    "answers the question of the %s: %s",
    async (_who, _question, { calls, read, sql }) => {
      const results: InsightResult[] = [];
      for (const [tool, args] of calls) results.push(answerIn(await host.call(tool, args)));
      expect(rounded(read(results))).toEqual(rounded(expectedBy(sql)));
      expect(results.map(({ truncated }) => truncated)).not.toContain(true);
      expect(results.length).toBeLessThanOrEqual(MOST_CALLS);
    },
  );

  it("needs more than three calls for two of sixty-eight questions, each for a reason", () => {
    const numbers = [FOURTEEN, FORTY, FURTHER, BEYOND].map(({ length }) => length);
    expect(numbers).toEqual([14, 40, 12, 2]);
    expect(FURTHER.filter(({ calls }) => calls.length > 1).length).toBe(1);
    for (const { why } of BEYOND) expect(why).toMatch(/^[A-Z].{30,}\.$/);
  });
});
