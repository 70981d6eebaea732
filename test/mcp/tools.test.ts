import { describe, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { CLOSURE_REASONS, DOCUMENT_TYPES } from "../../src/contract/operations/documents.ts";
import { activeOperationTools } from "../../src/mcp/tools/listing/active-tools.ts";
import type { ListedTool } from "../../src/mcp/tools/listing/every-tool.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import type { JsonSchema } from "../../src/mcp/tools/listing/schemas.ts";
import { SAVED_FORMATS } from "../../src/mcp/results/saved-files.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { sanitizeText } from "../../src/mcp/results/sanitize.ts";
import { prompts } from "../../prompts/index.ts";
import { buildGuide, buildInstructions, questions } from "../../tools/guide.ts";
import { toolsets } from "../../tools/index.ts";
import { insightTools } from "../../tools/insights.ts";
import { o200kTokens } from "../support/o200k.ts";
import { verifies } from "../support/verifies.ts";

const ENUMERATED = ["Open", "Closed", "Canceled", "Internal", "All"];
const insights = insightTools.map(({ name }) => name);
const EVERYTHING = { toolsets: toolsetNames, readOnly: false };
const all = toolList(EVERYTHING);
const tools = activeOperationTools(EVERYTHING);

type Part = { where: string; schema: JsonSchema };

const partsOf = (where: string, schema: JsonSchema): Part[] => [
  { where, schema },
  ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    partsOf(`${where}.${name}`, part),
  ),
  ...(schema.items === undefined ? [] : partsOf(`${where}[]`, schema.items)),
];

const inputs = (tool: ListedTool) => partsOf(tool.name, tool.inputSchema);
const outputs = (tool: ListedTool) => partsOf(tool.name, tool.outputSchema);

const listed = (name: string): ListedTool => {
  const tool = all.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
};

const wordsOf = (tool: ListedTool): string[] => [
  tool.title,
  tool.description,
  ...inputs(tool).flatMap(({ schema }) => schema.description ?? []),
];

describe("one tool per operation", () => {
  it("lists each documented operation, under its id, and no name twice", () => {
    const names = all.map(({ name }) => name);
    const documented = operations.filter(({ extension }) => !extension);
    const expected = documented.map(({ id }) => id.replaceAll(".", "_"));
    expect(names).toEqual(expect.arrayContaining([...expected, ...insights]));
    expect(new Set(names).size).toBe(names.length);
  });

  it("uses names that every host accepts", () => {
    for (const { name } of all) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it("has disjoint toolsets with known names", () => {
    const names = Object.values(toolsets).flatMap((set) => set.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
  });

  it("has prompts that require existing toolsets", () => {
    const required = prompts.flatMap(({ toolsets }) => toolsets);
    expect(toolsetNames).toEqual(expect.arrayContaining(required));
  });
});

describe("hints, titles and descriptions", () => {
  verifies("C-75");
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    "%s has four hints that match its operation",
    (name, { operation }) => {
      const { annotations } = listed(name);
      const expected = {
        read: [true, false, true],
        create: [false, false, false],
        change: [false, true, true],
        session: [false, false, true],
      }[operation.effect];
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
      expect([readOnlyHint, destructiveHint, idempotentHint]).toEqual(expected);
      expect(openWorldHint).toBe(name === "webhooks_create");
    },
  );

  it("marks no tool with the name of a change as read-only", () => {
    const reading = all.filter(({ annotations }) => annotations.readOnlyHint);
    const change = /_(create|update|replace|delete|close|apply|upload|login|logout)(_|$)/;
    expect(reading.filter(({ name }) => change.test(name))).toEqual([]);
  });

  it("says for every insight which question it answers", () => {
    expect(Object.keys(questions)).toEqual(insights);
  });

  it("has a distinct title and description for every tool", () => {
    for (const { title, description } of all) {
      expect(title).toMatch(/^[A-Z]/);
      expect(description).toMatch(/\.$/);
    }
    expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
    expect(new Set(all.map(({ description }) => description)).size).toBe(all.length);
  });

  verifies("C-70");
  it("has clean texts that do not instruct the model", () => {
    const bossy = /\b(you must|always|never|ignore|system prompt|important|instead of other)\b/i;
    const texts = all.flatMap(wordsOf);
    expect(texts.filter((text) => bossy.test(text))).toEqual([]);
    const more = [
      buildGuide(toolsetNames, false),
      buildInstructions(toolsetNames, false),
      buildInstructions(toolsetNames, true),
    ];
    const asked = prompts.map((prompt) => prompt.text({ disputeId: "d" }, () => true));
    for (const text of [...texts, ...more, ...asked]) expect(sanitizeText(text)).toBe(text);
  });
});

describe("schemas that every host accepts", () => {
  it("use only basic JSON Schema keywords", () => {
    const known = new Set([
      "type",
      "description",
      "enum",
      "properties",
      "required",
      "items",
      "additionalProperties",
      "minimum",
      "maximum",
    ]);
    for (const { where, schema } of all.flatMap((tool) => [...inputs(tool), ...outputs(tool)])) {
      expect(
        Object.keys(schema).filter((key) => !known.has(key)),
        where,
      ).toEqual([]);
      expect(schema.type, where).toBeDefined();
      if (schema.type === "array") expect(schema.items, where).toBeDefined();
    }
  });

  it("have an object as root and plain property names", () => {
    for (const tool of all) {
      expect(tool.inputSchema.type).toBe("object");
      expect(tool.outputSchema.type).toBe("object");
      for (const { schema } of [...inputs(tool), ...outputs(tool)]) {
        for (const key of Object.keys(schema.properties ?? {})) {
          expect(key).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
        }
      }
    }
  });

  it("are strict for inputs and open for outputs at every depth", () => {
    const objects = (parts: Part[]) => parts.filter(({ schema }) => schema.properties);
    // Of some objects tools publish a part of the properties.
    const isFree =
      /\.(filters|data_providers|custom_fields|invoicing_detail|line_items)\b|^disputes_apply\.(where|change)$/;
    for (const { where, schema } of objects(all.flatMap(inputs))) {
      // The server refuses unknown arguments itself.
      const isRoot = !/[.[]/.test(where);
      const isOpen = isRoot || isFree.test(where);
      expect(schema.additionalProperties, where).toBe(isOpen ? undefined : false);
    }
    for (const { where, schema } of all.flatMap(outputs)) {
      expect(schema, where).not.toHaveProperty("additionalProperties");
      expect(schema, where).not.toHaveProperty("enum");
    }
  });

  verifies("C-67");
  it("have no argument for tenant, address or credential", () => {
    const withheld = /^(tenantid|password|accesstoken|apikey|baseurl|url|token)$/i;
    const names = all.flatMap(inputs).map(({ where }) => where.split(".").at(-1) ?? "");
    expect(names.filter((name) => withheld.test(name))).toEqual([]);
    for (const name of ["auth_login", "auth_verify_session", "auth_logout"]) {
      expect(listed(name).inputSchema.properties).toEqual({});
    }
  });

  it("enumerate only values that the interface documents enumerate", () => {
    const ofOperations = all.filter(({ name }) => !insights.includes(name));
    const closed = ofOperations.flatMap(inputs).flatMap(({ schema }) => schema.enum ?? []);
    expect(new Set(closed)).toEqual(
      new Set([
        ...ENUMERATED,
        ...DOCUMENT_TYPES,
        ...CLOSURE_REASONS,
        ...SAVED_FORMATS,
        "text",
        "file",
      ]),
    );
    expect(listed("disputes_update").inputSchema.properties["status"]).toMatchObject({
      type: "string",
      enum: ["Open", "Closed", "Canceled"],
    });
    expect(listed("reasons_create").inputSchema.properties["visibility"]).not.toHaveProperty(
      "enum",
    );
  });

  it("add cursor, idempotencyKey, ifMatch and confirmationToken only where they apply", () => {
    const having = (name: string) =>
      all.filter(({ inputSchema }) => name in inputSchema.properties).map((tool) => tool.name);
    const named = (pattern: RegExp) =>
      all.map(({ name }) => name).filter((name) => pattern.test(name));
    expect(having("cursor")).toEqual([
      ...insights,
      "read_resource",
      ...named(/_(list|query|status|data)(_|$)|attachments_(get|download)$/).filter(
        (name) => name !== "dispute_attachments_get",
      ),
    ]);
    expect(having("idempotencyKey")).toEqual(named(/_(create|open|upload)$/));
    expect(having("ifMatch")).toEqual(named(/_(update|replace)$/));
    expect(having("confirmationToken")).toEqual(
      named(
        /_delete|^disputes_(update|apply|open)$|_replace$|^documents_(create|update|close)$|^webhooks_create$/,
      ),
    );
  });

  it("have count, total, truncated and nextCursor before the items of lists", () => {
    expect(Object.keys(listed("disputes_list").outputSchema.properties)).toEqual([
      "about",
      "count",
      "total",
      "truncated",
      "nextCursor",
      "items",
      "saved",
    ]);
    expect(Object.keys(listed("audit_logs_list").outputSchema.properties)).toEqual([
      "about",
      "truncated",
      "pagination",
      "data",
      "saved",
    ]);
    expect(listed("auth_login").outputSchema.properties).not.toHaveProperty("accessToken");
    expect(listed("api_keys_create").outputSchema.properties).toHaveProperty("storedAs");
    expect(listed("api_keys_create").outputSchema.properties).not.toHaveProperty("apiKey");
  });
});

describe("the list", () => {
  it("is created once, frozen, and equal for the same settings in any order", () => {
    expect(toolList({ ...EVERYTHING })).toBe(all);
    expect(toolList({ ...EVERYTHING, toolsets: toolsetNames.toReversed() })).toBe(all);
    expect(Object.isFrozen(all)).toBe(true);
    expect(Object.isFrozen(all[0]?.inputSchema.properties)).toBe(true);
  });

  verifies("C-84");
  it("has exactly the read-only tools in read-only mode", () => {
    const reading = toolList({ ...EVERYTHING, readOnly: true });
    expect(reading).toEqual(all.filter(({ annotations }) => annotations.readOnlyHint));
    expect(reading.length).toBeGreaterThan(15);
  });

  it("has only the selected toolsets", () => {
    const some = toolList({ toolsets: ["audit", "disputes"], readOnly: false });
    const chosen = [...toolsets.disputes, ...toolsets.audit].map(({ name }) => name);
    expect(some.map(({ name }) => name)).toEqual(chosen);
  });

  it("has instructions and a guide within their token budgets", () => {
    expect(o200kTokens(buildInstructions(toolsetNames, false))).toBeLessThanOrEqual(600);
    expect(o200kTokens(buildGuide(toolsetNames, false))).toBeLessThanOrEqual(2500);
  });
});
