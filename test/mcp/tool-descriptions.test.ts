import { describe, expect, it } from "vitest";
import { SOURCES } from "../../src/contract/payments/catalogue.ts";
import { createOpenApi } from "../../src/contract/openapi.ts";
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

const argumentsIn = (where: string, { properties = {}, items }: JsonSchema): Argument[] => [
  ...Object.entries(properties).flatMap(([name, schema]) => [
    { where: `${where}.${name}`, schema },
    ...argumentsIn(`${where}.${name}`, schema),
  ]),
  ...(items === undefined ? [] : argumentsIn(`${where}[]`, items)),
];

const every: readonly Argument[] = [...all, ...inDiscovery].flatMap(({ name, inputSchema }) =>
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
  it.each(all.map((tool) => [tool.name, tool] as const))("%s has at most 700", (_name, tool) => {
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
