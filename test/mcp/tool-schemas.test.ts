import { describe, expect, it } from "vitest";
import { z } from "zod";
import { findRowSchema } from "../../src/contract/operation.ts";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import type { ListedTool } from "../../src/mcp/tools/listing/every-tool.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { isOperationTool } from "../../tools/tool.ts";
import { canBeStrict, RULES } from "../support/schema-converters.ts";
import { verifies } from "../support/verifies.ts";

const EVERYTHING = { toolsets: toolsetNames, readOnly: false };
const all = toolList(EVERYTHING);
const tools = activeTools(EVERYTHING).filter(isOperationTool);

const listed = (name: string): ListedTool => {
  const tool = all.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
};

describe("tools in the form that hosts convert", () => {
  verifies("IN-53");
  it.each(Object.entries(RULES))("pass the rules of %s", (_host, rule) => {
    const refused = all.flatMap((tool) => rule(tool).map((what) => `${tool.name}: ${what}`));
    expect(refused).toEqual([]);
  });

  it("can be strict, except those with free-form objects", () => {
    expect(all.filter((tool) => !canBeStrict(tool)).map(({ name }) => name)).toEqual([
      "payments_summarize",
      "disputes_apply",
      "payments_query",
      "schedules_create",
      "accounts_create",
      "accounts_replace",
      "accounts_update",
      "documents_create",
      "documents_replace",
      "documents_update",
    ]);
  });

  it("are refused where a rule is broken", () => {
    const tool = (properties: object) =>
      ({
        ...listed("disputes_get"),
        inputSchema: { type: "object", properties },
      }) as ListedTool;
    const broken = [
      ["Gemini's parameters", { a: { type: "integer", enum: [0, 1] } }],
      ["Gemini's parameters", { a: { type: "object" } }],
      ["Gemini's parameters", { a: { type: ["object", "null"], properties: { b: {} } } }],
      ["Gemini's parameters", { a: { type: "string", format: "email" } }],
      ["function calling", { a: { type: "array" } }],
      ["Gemini's JSON Schema", { a: { type: "string", pattern: "a" } }],
      ["the editor", { a: { description: "no type" } }],
      ["the Messages API", { "a b": { type: "string" } }],
    ] as const;
    for (const [host, properties] of broken) {
      expect(RULES[host]?.(tool(properties)), host).not.toEqual([]);
    }
  });
});

/** Every value of this name below a value. */
const valuesNamed = (name: string, value: unknown): unknown[] => {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === name ? [one] : valuesNamed(name, one),
  );
};

describe("tools as a way out", () => {
  verifies("C-85");
  it("have schemas that refer to nothing outside themselves", () => {
    const outside = all.flatMap((tool) => valuesNamed("$ref", tool)).map(String);
    expect(outside.filter((ref) => !ref.startsWith("#"))).toEqual([]);
    const properties = [{ a: { $ref: "https://schemas.example/a" } }];
    expect(valuesNamed("$ref", properties)).toEqual(["https://schemas.example/a"]);
  });

  verifies("C-72");
  it("send data to an address of the caller's choice by webhooks alone, which ask first", () => {
    const takesAddress = (tool: ListedTool): boolean =>
      Object.entries(tool.inputSchema.properties ?? {}).some(([name, schema]) => {
        const { format, description = "" } = schema as { format?: string; description?: string };
        return (
          /url|uri|href|host|callback/i.test(name) ||
          format === "uri" ||
          /https?:/.test(description)
        );
      });
    // Resources are this server's own; a URI of any other scheme is not found.
    const others = all.filter(({ name }) => name !== "read_resource");
    expect(others.filter(takesAddress).map(({ name }) => name)).toEqual(["webhooks_create"]);
    expect(listed("webhooks_create").annotations).toMatchObject({ readOnlyHint: false });
    const tool = tools.find(({ name }) => name === "webhooks_create");
    expect(tool?.confirm?.question).toBeTypeOf("function");
  });
});

verifies("IN-58");
describe("output schemas", () => {
  const SECRET = ["accessToken", "apiKey", "secret"];

  it("name every documented top-level field with its type", () => {
    for (const { name, operation } of tools) {
      const { properties } = listed(name).outputSchema;
      const { output } = operation;
      if (!(output instanceof z.ZodObject)) continue;
      const fields = Object.keys(output.shape).filter((field) => !SECRET.includes(field));
      expect(Object.keys(properties), name).toEqual(expect.arrayContaining(fields));
      for (const schema of Object.values(properties)) expect(schema.type, name).toBeDefined();
    }
  });

  it("name every field of the rows of a list, none of them required", () => {
    for (const { name, operation } of tools) {
      const row = findRowSchema(operation.output);
      if (operation.list === null || !(row instanceof z.ZodObject)) continue;
      const { items, data, applications } = listed(name).outputSchema.properties;
      const rows = (items ?? data ?? applications)?.items;
      expect(Object.keys(rows?.properties ?? {}), name).toEqual(Object.keys(row.shape));
      expect(rows, name).not.toHaveProperty("required");
    }
  });
});

verifies("IN-51");
describe("lists with short rows", () => {
  const short = tools.filter(({ operation }) => operation.list?.defaultFields != null);

  it("are those of disputes, applications, users, payments and the audit log", () => {
    expect(short.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "disputes_list",
        "disputes_list_by_document_numbers",
        "disputes_list_by_ids",
        "credit_applications_list",
        "payments_query",
        "audit_logs_list",
        "users_list",
        "users_list_v1",
      ]),
    );
  });

  it.each(short.map((tool) => [tool.name, tool] as const))(
    "%s documents its default fields and takes others",
    (name, { operation: { list } }) => {
      const { description, inputSchema } = listed(name);
      expect(description).toContain((list?.defaultFields ?? []).join(", "));
      expect(inputSchema.properties["fields"]).toMatchObject({ type: "array" });
      const known = ["cashapp", "iandp", "bpn"].flatMap(
        (source) => list?.fieldsOf({ source }) ?? [],
      );
      expect(known).toEqual(expect.arrayContaining([...(list?.defaultFields ?? [])]));
    },
  );
});
