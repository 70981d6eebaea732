import { describe, expect, it } from "vitest";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { unwrapArguments } from "../../src/mcp/tools/arguments/arguments.ts";
import { inputSchema, type JsonSchema } from "../../src/mcp/tools/listing/schemas.ts";
import type { Tool } from "../../tools/tool.ts";
import { verifies } from "../support/verifies.ts";
import { DISPUTE_FIGURES, DISPUTE_GROUPINGS } from "../../src/contract/insights/dispute-summary.ts";
import {
  DOCUMENT_FIGURES,
  DOCUMENT_GROUPINGS,
} from "../../src/contract/insights/document-summary.ts";
import {
  ALL,
  connectModern,
  connectScripted,
  createOptions,
  readText,
  withoutAbout,
} from "./hosts.ts";
import { createMany, dispute, servePages } from "./records.ts";
import { scriptBroker } from "./script.ts";

const wordsOf = (name: string): string[] =>
  name.split(/_|(?<=[a-z\d])(?=[A-Z])/).map((word) => word.toLowerCase());

const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;

/** A name in the spellings of the interface documents. */
const spellingsOf = (name: string): string[] => {
  const words = wordsOf(name);
  const pascal = words.map(capital).join("");
  return [words.join("_"), `${words[0]}${words.slice(1).map(capital).join("")}`, pascal];
};

/** Returns the paths of all arguments with values that have the names in one spelling. */
const respellAll = (schema: JsonSchema, at: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      spellingsOf(name)[at],
      property.additionalProperties === false ? respellAll(property, at) : "x",
    ]),
  );

const namesIn = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, child]: [string, unknown]) => [name, namesIn(child)])
        .toSorted()
    : null;

const shapeOf = (schema: JsonSchema): unknown =>
  Object.entries(schema.properties ?? {})
    .map(([name, property]) => [
      name,
      property.additionalProperties === false ? shapeOf(property) : null,
    ])
    .toSorted();

verifies("WK-06a");
describe.each(["snake_case", "camelCase", "PascalCase"].map((name, at) => [name, at] as const))(
  "arguments in %s",
  (_name, at) => {
    it.each(activeTools(ALL).map((tool): [string, Tool] => [tool.name, tool]))(
      "are understood by %s",
      (_tool, tool) => {
        const schema = inputSchema(tool);
        const { values, unknown } = unwrapArguments(tool, respellAll(schema, at), schema);
        expect(unknown).toEqual([]);
        expect(namesIn(values)).toEqual(shapeOf(schema));
      },
    );
  },
);

verifies("HS-05");
it.each([
  ["disputes_list", { fields: "disputeCode, amount" }, { fields: ["disputeCode", "amount"] }],
  ["disputes_summary", { groupBy: "category,status" }, { groupBy: ["category", "status"] }],
  ["disputes_summary", { accountNumber: "A,B" }, { accountNumber: ["A,B"] }],
  ["deductions_without_dispute", { groupBy: "account" }, { groupBy: "account" }],
])("words in one text are read in the form that %s takes: %j", (name, sent, read) => {
  const tool = activeTools(ALL).find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const { values, unknown } = unwrapArguments(tool, sent, inputSchema(tool));
  expect([values, unknown]).toEqual([read, []]);
});

/** A word, which may have a unit, in one of the spellings, in capitals where it has one word alone. */
const respellWord = (word: string, at: number): string =>
  word
    .split(":")
    .map((part) => {
      const spelling = spellingsOf(part)[at] ?? part;
      return spelling === part ? part.toUpperCase() : spelling;
    })
    .join(":");

const EMPTY_SUMMARY = {
  asOf: "2026-11-20T12:00:00.000Z",
  filter: {},
  rowCount: 0,
  truncated: false,
  currencyTotals: [],
  itemsTotal: 0,
  notes: [],
  items: [],
};

verifies("WK-06a");
describe.each([
  ["disputes_summary", DISPUTE_GROUPINGS, DISPUTE_FIGURES],
  ["documents_summary", DOCUMENT_GROUPINGS, DOCUMENT_FIGURES],
] as const)("groupings and figures of %s", (tool, groupings, figures) => {
  const id = tool.replace("_", ".");

  it.each([0, 1, 2])(
    "are understood in spelling %s, and reach the platform as documented",
    async (at) => {
      const broker = scriptBroker(
        { [id]: () => EMPTY_SUMMARY },
        { extensions: [id, `${id}.groups`] },
      );
      const host = await connectModern(await createOptions(broker));
      for (const word of [...groupings, ...figures]) {
        const isFigure = (figures as readonly string[]).includes(word);
        const groupBy = isFigure ? [] : [respellWord(word, at)];
        const result = await host.call(tool, { groupBy, orderBy: respellWord(word, at) });
        expect(result.isError ?? false, readText(result)).toBe(false);
        expect(broker.seen.at(-1)).toMatchObject({
          id,
          args: { groupBy: isFigure ? [] : [word], orderBy: word },
        });
      }
      await host.close();
    },
  );
});

describe("spellings", () => {
  verifies("WK-06a");
  it("are read in measures, groupings and orders of payments", async () => {
    const id = "payments.summary";
    const broker = scriptBroker(
      { [id]: () => EMPTY_SUMMARY },
      { extensions: [id, `${id}.groups`] },
    );
    const host = await connectModern(await createOptions(broker));
    const result = await host.call("payments_summarize", {
      source: "CashApp",
      group_by: ["payer_name", "PaymentDate:Month"],
      measures: [
        { op: "COUNT_DISTINCT", field: "payer_name" },
        { Op: "Sum", Field: "fee_amount" },
      ],
      order_by: "sum(FeeAmount)",
    });
    expect(result.isError ?? false, readText(result)).toBe(false);
    expect(broker.seen.at(-1)?.args).toMatchObject({
      source: "cashapp",
      groupBy: ["payerName", "paymentDate:month"],
      measures: [
        { op: "countDistinct", field: "payerName" },
        { op: "sum", field: "feeAmount" },
      ],
      orderBy: "sum(feeAmount)",
    });
    await host.close();
  });

  verifies("WK-06a");
  it("are read in sorts, and in words that a tool's schema does not list", async () => {
    const list = { data: [], pagination: { cursor: null, hasMore: false, rowCount: 0 } };
    const replies = { "disputes.list": servePages([]), "documents.list": () => list };
    const broker = scriptBroker(replies, { extensions: ["documents.list"] });
    const host = await connectModern(await createOptions(broker));
    const lastArguments = async (tool: string, args: Record<string, unknown>) => {
      const result = await host.call(tool, args);
      expect(result.isError ?? false, readText(result)).toBe(false);
      return broker.seen.at(-1)?.args;
    };
    expect(await lastArguments("disputes_list", { sort: "-update_date, amount" })).toMatchObject({
      Sort: "-UpdateDate,Amount",
    });
    const documents = { Status: "Open", documentType: "CreditNote", Sort: "-DueDate" };
    expect(await lastArguments("documents_list", documents)).toMatchObject({
      status: "open",
      document_type: "credit_note",
      sort: "-due_date",
    });
    await host.close();
  });

  verifies("WK-06a");
  it("are read in words of enumerations, fields of rows and filters of payments", async () => {
    const { host, broker } = await connectScripted({
      "disputes.list": servePages(createMany(3, dispute)),
      "payments.query": () => ({ data: [], pagination: { hasMore: false } }),
      "dispute_notes.create": () => ({ disputeNoteId: "n" }),
    });
    const listed = await host.call("disputes_list", {
      account_number: "ACC-1",
      status: "open",
      fields: ["dispute_code", "Status"],
    });
    expect(withoutAbout(listed)["items"]).toMatchObject([
      { status: "Open", disputeCode: expect.any(String) },
      {},
      {},
    ]);
    expect(broker.seen.at(-1)?.args).toMatchObject({ AccountNumber: "ACC-1", Status: [0] });
    await host.call("dispute_notes_create", {
      dispute_id: "d",
      content: "x",
      visibility: "internal",
    });
    expect(broker.seen.at(-1)?.args).toMatchObject({ disputeId: "d", visibility: "Internal" });
    const asked = await host.call("payments_query", {
      source: "cashapp",
      fields: ["payment_amount"],
      filters: {
        or: [{ payment_amount: { gte: 1 } }, { not: { PayerName: { StartsWith: "A" } } }],
      },
    });
    expect(asked.isError ?? false, readText(asked)).toBe(false);
    expect(broker.seen.at(-1)?.args).toMatchObject({
      fields: ["paymentAmount"],
      filters: { or: [{ paymentAmount: { gte: 1 } }, { not: { payerName: { startsWith: "A" } } }] },
    });
  });
});
