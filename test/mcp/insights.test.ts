import { beforeAll, describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { insightTools } from "../../tools/insights.ts";
import { INSIGHT_SAMPLES } from "../support/insight-samples.ts";
import { onEveryStore } from "../support/platform.ts";
import type { Records } from "../support/records.ts";
import { verifies } from "../support/verifies.ts";
import { createRecords } from "./each-tool.ts";
import { connectModern, createOptions, readProblem, readText } from "./hosts.ts";
import { answerIn, askAt } from "./insight-host.ts";
import { scriptBroker } from "./script.ts";

const names = insightTools.map(({ name }) => name);

const COMMON = ["asOf", "filter", "rowCount", "truncated", "itemsTotal", "currencyTotals"];

onEveryStore("every insight", (at) => {
  const asking = askAt(at, "questions");
  let records: Records;
  beforeAll(async () => {
    records = await createRecords(asking(), "asked");
  });

  verifies("IN-01");
  it.each(names)("%s answers in the common form", async (name) => {
    const args = INSIGHT_SAMPLES[name]?.(records) ?? {};
    const answer = await asking().ask(name, args);
    const keys = Object.keys(answer).filter((key) => key !== "about");
    expect(keys.slice(0, COMMON.length)).toEqual(COMMON);
    expect(keys.slice(-2)).toEqual(["notes", "items"]);
    expect(answer.filter).toBeTypeOf("object");
    expect(answer.truncated).toBe(false);
    expect(Date.parse(answer.asOf)).not.toBeNaN();
    expect(answer.itemsTotal).toBeGreaterThanOrEqual(answer.items.length);
  });

  verifies("IN-58");
  it.each(names)("%s has every figure of its answer in its output schema", async (name) => {
    const { tools } = await asking().host.client.listTools();
    const { outputSchema } = tools.find((tool) => tool.name === name) ?? {};
    const extra = name === "payments_summarize" ? { topRows: 1 } : {};
    const args = { ...INSIGHT_SAMPLES[name]?.(records), ...extra };
    const answer = await asking().ask(name, args);
    expect(Object.keys(outputSchema?.properties ?? {})).toEqual(
      expect.arrayContaining(Object.keys(answer)),
    );
  });

  it.each(names)("%s reads only, under its own name in the audit log", async (name) => {
    const args = INSIGHT_SAMPLES[name]?.(records) ?? {};
    await asking().ask(name, args);
    const auditor = await at().exportCaller("questions", ["audit:read"]);
    const { body } = await auditor(
      "GET",
      `/api/v1/remittance-export/audit-logs?q=${name}&limit=50`,
    );
    const entries = body.data as { method: string; action: string }[];
    expect(entries.length).toBeGreaterThan(0);
    const changing = entries.filter(({ action }) => /created|updated|deleted|closed/.test(action));
    expect(changing).toEqual([]);
  });
});

verifies("IN-04");
describe("arguments of insights", () => {
  const refusal = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const host = await connectModern(await createOptions(scriptBroker({})));
    const said = readText(await host.call(name, args));
    await host.close();
    return said;
  };

  it("are refused with the nearest known one", async () => {
    expect(await refusal("credit_queue", { starDate: "2026-01-01" })).toMatch(
      /^invalid_request: credit_queue: starDate is not an argument; did you mean startDate\?/,
    );
  });

  it("are refused with all known ones if none is near", async () => {
    expect(await refusal("credit_queue", { tenant: "x" })).toContain(
      "tenant is not an argument; known: startDate, endDate, limit",
    );
  });

  it("are refused with an example of the right form", async () => {
    expect(await refusal("credit_queue", { endDate: "yesterday" })).toContain(
      'endDate must be a date, such as "2026-01-31"',
    );
    expect(await refusal("credit_queue", { limit: "many" })).toContain(
      "limit must be a number, for instance 10",
    );
    expect(await refusal("account_overview", {})).toContain(
      'account is required, for instance "Acme"',
    );
    const measures = ["sum(paymentAmount)"];
    expect(await refusal("payments_summarize", { source: "cashapp", measures })).toContain(
      'measures[0] must be an object, such as {"op": "sum", "field": "paymentAmount"}',
    );
  });

  it("may be JSON strings and single values, as hosts send them", async () => {
    const broker = scriptBroker({
      "credit_applications.list": () => ({ applications: [], applicationStatusSummary: [] }),
    });
    const host = await connectModern(await createOptions(broker));
    const answer = answerIn(await host.call("credit_queue", { limit: "5" }));
    expect(answer).toMatchObject({ rowCount: 0, items: [] });
    const refused = await host.call("credit_queue", { limit: "0" });
    expect(readProblem(refused).message).toContain("limit must be at least 1");
  });
});

describe("a refusal by the platform", () => {
  it("names the missing right", async () => {
    const broker = scriptBroker({
      "credit_applications.list": () => {
        throw new Problem("forbidden_permission", "Not allowed.");
      },
    });
    const host = await connectModern(await createOptions(broker));
    const problem = readProblem(await host.call("credit_queue", {}));
    expect(problem.nextStep).toContain('"Credit Applications : READ"');
  });
});
