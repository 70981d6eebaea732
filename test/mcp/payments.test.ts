import { describe, expect, it } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { paymentSchema } from "../../src/contract/operations/payments.ts";
import { PaymentQueryBody, parseSelection } from "../../src/contract/payments/query.ts";
import { OPERATOR_NAMES } from "../../src/contract/payments/operators.ts";
import { WORKED_EXAMPLES } from "../../prompts/ask-payments.ts";
import { estimateTokens } from "../../src/mcp/results/tokens.ts";
import {
  HOSTS,
  connectModern,
  createOptions,
  readProblem,
  readText,
  withoutAbout,
} from "./hosts.ts";
import { serveAuditPages, createMany } from "./records.ts";
import { scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const SCHEMA = "receivables://export/schema";
const schema = { "payments.schema": () => paymentSchema };

type Short = { name: string; type: string; core?: true; nullable?: false; enum?: string[] };
type Brief = {
  notes: string[];
  types: Record<string, { operators: string[] }>;
  sources: { source: string; description: string; fields: Short[] }[];
};

type Contents = { contents: { text?: string }[] };
const jsonIn = (result: unknown) => JSON.parse((result as Contents).contents[0]?.text ?? "");

describe.each(HOSTS)("the payment schema (%s)", (_name, open) => {
  verifies("QY-01");
  it("is a resource, whole or by source, with completions of sources", async () => {
    const broker = scriptBroker(schema);
    const host = await open(await createOptions(broker));
    const { client } = host;
    expect(jsonIn(await client.readResource({ uri: SCHEMA }))).toEqual(paymentSchema);
    expect(jsonIn(await client.readResource({ uri: `${SCHEMA}/bpn` }))).toEqual(
      paymentSchema.sources[2],
    );
    expect(broker.seen.every(({ options }) => options.tool === "resources.read")).toBe(true);
    await expect(client.readResource({ uri: `${SCHEMA}/nope` })).rejects.toThrow();
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: `${SCHEMA}/{source}` },
      argument: { name: "source", value: "i" },
    });
    expect(completion.values).toEqual(["iandp"]);
  });

  it("is in the prompt, with all operators and similar worked examples", async () => {
    const host = await open(await createOptions(scriptBroker(schema)));
    const question = `Which card payments failed or were refunded? ${"x".repeat(300)}`;
    const { messages } = await host.client.getPrompt({
      name: "ask-payments",
      arguments: { question },
    });
    const [words] = messages.map(({ content }) => content);
    const text = words?.type === "text" ? words.text : "";
    expect(text).toContain(JSON.stringify(question));
    for (const operator of OPERATOR_NAMES) expect(text).toContain(`- ${operator}: `);
    expect(text).toContain("charged_back");
    expect(text).not.toContain("10492");
    expect(text).toContain("applicationStatus");
    expect(text).toContain("payments_summarize");
  });
});

describe("payments over MCP", () => {
  verifies("QY-01", "C-80");
  it("the schema has every field within the default budget, with the operators by type", async () => {
    const options = { settings: { answerTokens: 6000 } };
    const host = await connectModern(await createOptions(scriptBroker(schema), options));
    const brief = withoutAbout(await host.call("payments_schema"));
    expect(jsonIn(await host.client.readResource({ uri: SCHEMA }))).toEqual(brief);
    const { sources, types, notes } = brief as unknown as Brief;
    const operatorsOf = ({ type, nullable }: Short): string[] =>
      types[type]?.operators.filter((operator) => nullable !== false || operator !== "isNull") ??
      [];
    expect(notes.join()).toContain("nullable");
    for (const { source, description, fields } of paymentSchema.sources) {
      const short = sources.find((one) => one.source === source);
      expect(short?.description).toBe(description);
      expect(short?.fields.map((field) => [field.name, field.core === true])).toEqual(
        fields.map(({ name, core }) => [name, core]),
      );
      expect(short?.fields.map(operatorsOf)).toEqual(fields.map(({ operators }) => operators));
      expect(short?.fields.map((field) => field.enum)).toEqual(fields.map((field) => field.enum));
    }
  });

  verifies("QY-01", "C-73");
  it.each(paymentSchema.sources.map(({ source, fields }) => [source, fields] as const))(
    "the resource of source %s has every field, in the short form where it does not fit whole",
    async (source, fields) => {
      const whole = estimateTokens(JSON.stringify({ source, fields }));
      const settings = { answerTokens: Math.floor(whole * 0.8) };
      const host = await connectModern(await createOptions(scriptBroker(schema), { settings }));
      const short = jsonIn(await host.client.readResource({ uri: `${SCHEMA}/${source}` }));
      expect(short).toMatchObject({
        source,
        notes: [expect.any(String)],
        types: expect.any(Object),
      });
      const namesOf = (list: readonly { name: string }[]) => list.map(({ name }) => name);
      expect(namesOf(short.fields)).toEqual(namesOf(fields));
    },
  );

  verifies("C-80");
  it("the schema is truncated to a small budget, and the result says so", async () => {
    const host = await connectModern(await createOptions(scriptBroker(schema)));
    const result = await host.call("payments_schema");
    expect(withoutAbout(result)).toEqual(paymentSchema);
    await host.close();
    const small = await connectModern(
      await createOptions(scriptBroker(schema), { settings: { answerTokens: 2000 } }),
    );
    const short = await small.call("payments_schema");
    expect(estimateTokens(JSON.stringify(short.structuredContent))).toBeLessThanOrEqual(2000);
    expect(readText(short)).toMatch(/shortened|first/);
    await small.close();
  });

  verifies("QY-07", "C-73");
  it("a query returns each of several equal rows within the budget", async () => {
    const rows = createMany(400, (index) => ({
      payerName: index % 3 === 0 ? "ACME" : "Zenith",
      n: index,
    }));
    const broker = scriptBroker({ "payments.query": serveAuditPages(rows) });
    const settings = { answerTokens: 3000 };
    const host = await connectModern(await createOptions(broker, { settings }));
    const args = { source: "cashapp", fields: ["payerName"], filters: { shortPay: { eq: true } } };
    const found: unknown[] = [];
    let cursor: string | null = null;
    do {
      const more: Record<string, unknown> = cursor === null ? {} : { cursor };
      const result = await host.call("payments_query", { ...args, ...more });
      const page = result.structuredContent as unknown as {
        data: unknown[];
        pagination: { cursor: string | null; hasMore: boolean; rowCount: number };
        truncated: boolean;
      };
      expect(page.pagination.rowCount).toBe(page.data.length);
      expect(page.truncated).toBe(page.pagination.hasMore);
      found.push(...page.data);
      ({ cursor } = page.pagination);
    } while (cursor !== null);
    expect(found).toEqual(rows);
    expect(broker.seen.every(({ args: sent }) => sent["filters"] !== undefined)).toBe(true);
    const few = await host.call("payments_query", { ...args, pageSize: 3 });
    expect(few.structuredContent).toMatchObject({ truncated: true, pagination: { rowCount: 3 } });
  });

  verifies("QY-06");
  it.each([
    [{ filters: [{ field: "payerName", value: "A" }] }, 'such as {"paymentDate": {"gte":'],
    [{ filters: "payerName = 'A'" }, "filters must be an object of conditions"],
    [{ orderBy: "paymentDate" }, "known: source, fields, filters, cursor, limit"],
    [{ startDate: "2026-01-01" }, "startDate is not an argument; known: "],
  ])("%j is refused with the right notation", async (args, words) => {
    const host = await connectModern(await createOptions(scriptBroker({})));
    const result = await host.call("payments_query", { source: "cashapp", ...args });
    expect(readProblem(result).message).toContain(words);
  });

  verifies("SC-05");
  it.each(["tomorrow", "2026-11-22", "2026-11-22T06:00:00"])(
    "a first run at %s is refused with the right notation",
    async (firstRunAt) => {
      const host = await connectModern(await createOptions(scriptBroker({})));
      const args = { source: "cashapp", filters: { shortPay: { eq: true } }, intervalMs: 300_000 };
      const result = await host.call("schedules_create", { ...args, firstRunAt });
      expect(readProblem(result).message).toContain(
        "firstRunAt must be a date-time with a time zone",
      );
    },
  );

  verifies("QY-06");
  it("the platform's message about an invalid filter reaches the model", async () => {
    const message = 'filters.payerName must have an operator; write {"eq": "Acme"}.';
    const refuse = () => {
      throw new Problem("invalid_request", message);
    };
    const host = await connectModern(
      await createOptions(scriptBroker({ "payments.query": refuse })),
    );
    const result = await host.call("payments_query", {
      source: "cashapp",
      filters: { payerName: "Acme" },
    });
    expect(readProblem(result).message).toContain('write {"eq": "Acme"}');
  });

  it.each(WORKED_EXAMPLES)("the worked example is valid: $asked", ({ query }) => {
    expect(parseSelection(PaymentQueryBody, query).faults).toBeUndefined();
  });

  verifies("QY-06");
  it("the tool description names every condition", async () => {
    const host = await connectModern(await createOptions(scriptBroker({})));
    const { tools } = await host.client.listTools();
    const words = tools.find(({ name }) => name === "payments_query")?.description ?? "";
    const [, listed = ""] = /Operators: ([^.]+)\./.exec(words) ?? [];
    const names = listed.split(", ").map((one) => one.replace(/ \(.*\)$/, ""));
    expect(names).toEqual(OPERATOR_NAMES);
  });

  it("the prompt contains the current time and the time of its examples", async () => {
    const needs = await createOptions(scriptBroker(schema), {
      now: () => Date.parse("2027-01-04T08:30:59Z"),
    });
    const host = await connectModern(needs);
    const prompt = { name: "ask-payments", arguments: { question: "What came last week?" } };
    const text = JSON.stringify(await host.client.getPrompt(prompt));
    expect(text).toContain("It is now 2027-01-04T08:30Z.");
    expect(text).toContain("as if today were 2026-11-19:");
  });
});
