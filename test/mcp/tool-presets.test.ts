import { describe, expect, it } from "vitest";
import { withViews } from "../../src/mcp/resources/view-resources.ts";
import type { ListedTool } from "../../src/mcp/tools/listing/every-tool.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { coreTools } from "../../tools/core.ts";
import { toolsets } from "../../tools/index.ts";
import { o200kTokens } from "../support/o200k.ts";
import { verifies } from "../support/verifies.ts";
import { ALL, connectModern, createOptions, settingsOf } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

const namesOf = (tools: readonly { name: string }[]): string[] => tools.map(({ name }) => name);
const all = toolList(ALL);
const core = toolList(settingsOf("core"));
const inDiscovery = toolList({ ...ALL, discovery: true });

verifies("WK-03");
describe("the preset core", () => {
  it("lists the insights and the tools of daily work", () => {
    const expected = new Set([...namesOf(toolsets.insights), ...coreTools]);
    expect(namesOf(core)).toEqual(namesOf(all).filter((name) => expected.has(name)));
    expect(core).toHaveLength(expected.size);
  });

  it("has at most 45 tools and 9,000 tokens", () => {
    const given = core.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    expect(core.length).toBeLessThanOrEqual(45);
    expect(o200kTokens(given)).toBeLessThanOrEqual(9000);
  });

  it("has whole toolsets that are named beside it", () => {
    const both = namesOf(toolList(settingsOf("core,audit,dispute_configuration")));
    expect(both).toEqual(expect.arrayContaining([...namesOf(core), "audit_logs_list"]));
    expect(both).toEqual(expect.arrayContaining(["departments_delete", "reasons_create"]));
    expect(both).not.toContain("users_list");
    expect(toolList(settingsOf("core,all"))).toBe(all);
  });

  it("does not know tools that it does not list", async () => {
    const settings = settingsOf("core");
    const host = await connectModern(await createOptions(scriptBroker({}), { settings }));
    const { tools } = await host.client.listTools();
    expect(namesOf(tools)).toEqual(namesOf(core));
    await expect(host.call("users_list")).rejects.toThrow("Unknown tool");
    const { prompts } = await host.client.listPrompts();
    expect(namesOf(prompts)).toEqual(expect.arrayContaining(["triage-disputes", "work-dispute"]));
  });
});

verifies("WK-03");
describe("hints for hosts that load tools on demand", () => {
  const hintOf = ({ _meta }: ListedTool): unknown => _meta?.["anthropic/searchHint"];

  it("are words of people, on every tool", () => {
    for (const tool of [...all, ...inDiscovery])
      expect(hintOf(tool), tool.name).toMatch(/\w+,? \w+/);
    const hints = all.map(hintOf).join(" ");
    for (const word of ["chargeback", "short pay", "deduction", "remittance", "claim"]) {
      expect(hints).toContain(word);
    }
    expect(hints).toContain("credit memo");
  });

  it("keep three tools loaded, with their views", () => {
    const loaded = withViews(all).filter(({ _meta }) => _meta?.["anthropic/alwaysLoad"] === true);
    expect(namesOf(loaded)).toEqual(["find_records", "disputes_triage", "dispute_packet"]);
    expect(loaded[1]?._meta).toMatchObject({
      "anthropic/searchHint": expect.stringContaining("chargebacks"),
      ui: { resourceUri: "ui://receivables/dispute-board.html" },
    });
  });
});
