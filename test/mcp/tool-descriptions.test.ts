import { describe, expect, it } from "vitest";
import { SOURCES } from "../../src/contract/payments/catalogue.ts";
import { createOpenApi } from "../../src/contract/openapi.ts";
import { withConfirmView } from "../../src/mcp/tools/listing/confirm-tool.ts";
import type { ListedTool } from "../../src/mcp/tools/listing/every-tool.ts";
import type { JsonSchema } from "../../src/mcp/tools/listing/schemas.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { o200kTokens } from "../support/o200k.ts";
import { verifies } from "../support/verifies.ts";

const EVERYTHING = { toolsets: toolsetNames, readOnly: false };
const all = toolList(EVERYTHING);
const inDiscovery = toolList({ ...EVERYTHING, discovery: true });

type Argument = { where: string; schema: JsonSchema };

// What a keyword of JSON Schema holds: schemas by the name of an argument, by another name, or no schema.
const BY_ARGUMENT = new Set(["properties", "patternProperties"]);
const BY_NAME = new Set(["$defs", "definitions", "dependentSchemas"]);
const NO_SCHEMA = new Set(["enum", "const", "default", "examples", "required"]);

/** The arguments below a schema, under every keyword that can hold schemas. */
const argumentsIn = (where: string, schema: object): Argument[] =>
  Object.entries(schema).flatMap(([keyword, value]) => {
    if (NO_SCHEMA.has(keyword) || typeof value !== "object" || value === null) return [];
    const at = Array.isArray(schema) || keyword === "items" ? `${where}[]` : where;
    if (!BY_ARGUMENT.has(keyword) && !BY_NAME.has(keyword)) return argumentsIn(at, value);
    return Object.entries(value as Record<string, JsonSchema>).flatMap(([name, one]) => [
      ...(BY_ARGUMENT.has(keyword) ? [{ where: `${at}.${name}`, schema: one }] : []),
      ...argumentsIn(`${at}.${name}`, one),
    ]);
  });

const withFurther = withConfirmView(toolList({ ...EVERYTHING, research: true }), () => true);
const listed = [...withFurther, ...inDiscovery];
const every: readonly Argument[] = listed.flatMap(({ name, inputSchema }) =>
  argumentsIn(name, inputSchema),
);

/** The part of a tool that hosts hand to a model. */
const forModel = ({ name, description, inputSchema }: ListedTool) => ({
  name,
  description,
  inputSchema,
});

const meanOf = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;

verifies("WK-02");
describe("arguments of tools", () => {
  it("have a description at every depth", () => {
    expect(every).not.toEqual([]);
    const undescribed = every.filter(({ schema: { description = "" } }) => description === "");
    expect(undescribed.map(({ where }) => where)).toEqual([]);
  });

  it("are found below every keyword of a schema", () => {
    const hidden = { properties: { hidden: { type: "string" } } };
    const schemas: Record<string, unknown> = {
      items: hidden,
      prefixItems: [hidden],
      anyOf: [{ type: "null" }, hidden],
      oneOf: [hidden],
      allOf: [hidden],
      additionalProperties: hidden,
      patternProperties: { "^x": hidden },
      $defs: { one: hidden },
      if: hidden,
      properties: { items: { description: "named like a keyword", ...hidden } },
    };
    for (const [keyword, schema] of Object.entries(schemas)) {
      const found = argumentsIn("tool", { [keyword]: schema });
      expect(found.at(-1)?.where, keyword).toMatch(/\.hidden$/);
      expect(found.at(-1)?.schema, keyword).toEqual({ type: "string" });
    }
    const named = { properties: { enum: { type: "string" }, properties: hidden } };
    const all = argumentsIn("tool", named).map(({ where }) => where);
    expect(all).toEqual(["tool.enum", "tool.properties", "tool.properties.hidden"]);
    expect(argumentsIn("tool", { default: hidden, enum: [hidden] })).toEqual([]);
  });

  it("are described by more than their names", () => {
    const fold = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, "");
    const repeated = every.filter(({ where, schema }) => {
      const name = fold(where.split(".").at(-1) ?? "");
      return fold(schema.description ?? "") === name;
    });
    expect(repeated.map(({ where }) => where)).toEqual([]);
  });

  it("explain the words of enumerations that are no plain English", () => {
    const bySource = every.filter(({ where }) => where.endsWith(".source"));
    expect(bySource.map(({ where }) => where.split(".")[0])).toEqual(
      expect.arrayContaining(["payments_query", "payments_summarize", "schedules_create"]),
    );
    for (const { where, schema } of bySource) {
      for (const source of SOURCES) expect(schema.description, where).toContain(`${source} (`);
    }
    const said = (where: string) => every.find((one) => one.where === where)?.schema.description;
    expect(said("documents_close.closure_reason")).toContain("contra: ");
    expect(said("disputes_triage.documentStatus")).toContain("missing: ");
    expect(said("credit_applications_list.activityType")).toContain("APPLICATIONSTATUSDATE (");
    expect(said("reasons_create.visibility")).toContain("External (");
    const { description = "" } = all.find(({ name }) => name === "payments_query") ?? {};
    for (const word of ["eq", "ne", "nin", "gt", "gte", "lt", "lte"]) {
      expect(description).toContain(`${word} (`);
    }
  });

  it("have their descriptions in the API document too", () => {
    const text = JSON.stringify(createOpenApi({ headerWord: "Platform", version: "1" }));
    for (const said of ["contra: offset against what you owe", "cashapp (cash application"]) {
      expect(text).toContain(said);
    }
  });
});

verifies("WK-02");
describe("the tokens of tools", () => {
  const named = new Map(listed.map((tool) => [tool.name, tool]));
  it.each([...named])("%s has at most 700", (_name, tool) => {
    expect(o200kTokens(forModel(tool))).toBeLessThanOrEqual(700);
  });

  it("are at most 190 on average, and 200 for output schemas", () => {
    expect(meanOf(all.map((tool) => o200kTokens(forModel(tool))))).toBeLessThanOrEqual(190);
    expect(meanOf(all.map((tool) => o200kTokens(tool.outputSchema)))).toBeLessThanOrEqual(200);
  });

  verifies("IN-62");
  it("are at most 6,000 in all in discovery mode", () => {
    expect(o200kTokens(inDiscovery.map(forModel))).toBeLessThanOrEqual(6000);
  });
});
