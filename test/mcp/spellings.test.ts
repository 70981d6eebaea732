import { describe, expect, it } from "vitest";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { unwrapArguments } from "../../src/mcp/tools/arguments/arguments.ts";
import { inputSchema, type JsonSchema } from "../../src/mcp/tools/listing/schemas.ts";
import type { Tool } from "../../tools/tool.ts";
import { verifies } from "../support/verifies.ts";
import { ALL, connectScripted, readText, withoutAbout } from "./hosts.ts";
import { createMany, dispute, servePages } from "./records.ts";

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

describe("spellings", () => {
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
