import { describe, expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { toolsets } from "../../tools/index.ts";
import { insightTools } from "../../tools/insights.ts";
import { createHandshake } from "../../src/mcp/stdio/handshake.ts";
import { toolsetNames } from "../../tools/toolsets.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { verifies } from "../support/verifies.ts";
import { connectModern, createOptions, type Host, readText, YES } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

const KEYED = ["payments", "audit", "ingest"] as const;
const KEYLESS = toolsetNames.filter((name) => !(KEYED as readonly string[]).includes(name));
const HIDDEN_INSIGHTS = insightTools
  .filter(({ insight }) => insight.needs.some(({ service }) => service !== "gateway"))
  .map(({ name }) => name);
const MISSING = "RECEIVABLES_EXT_API_KEY (or RECEIVABLES_EXT_API_KEY_FILE)";

const namesOf = (listed: readonly { name: string }[]): string[] => listed.map(({ name }) => name);

const connect = async (settings = {}): Promise<Host> =>
  connectModern(
    await createOptions(scriptBroker({}), { settings: { lacksExportKey: true, ...settings } }),
    YES,
  );

const refusalOf = (request: Promise<unknown>): Promise<string> =>
  request.then(
    () => "no refusal",
    (error: unknown) => String(error),
  );

verifies("IN-60");
describe("a server without an export key", () => {
  verifies("C-69");
  it("lists all tools but those that need the key", () => {
    const all = namesOf(toolList({ toolsets: toolsetNames, readOnly: false }));
    const hidden = new Set([
      ...KEYED.flatMap((name) => namesOf(toolsets[name])),
      ...HIDDEN_INSIGHTS,
    ]);
    const keyless = toolList({ toolsets: toolsetNames, readOnly: false, lacksExportKey: true });
    expect(namesOf(keyless)).toEqual(all.filter((name) => !hidden.has(name)));
    expect(namesOf(keyless)).toContain("account_overview");
    expect(HIDDEN_INSIGHTS).toContain("documents_summary");
    const services = new Map(operations.map(({ id, service }) => [id.replace(".", "_"), service]));
    expect(
      namesOf(keyless).filter((name) => (services.get(name) ?? "gateway") !== "gateway"),
    ).toEqual([]);
  });

  it("lists the resources and prompts of the toolsets that need no key", async () => {
    const [keyless, fewer] = await Promise.all([
      connect(),
      connect({ lacksExportKey: false, toolsets: KEYLESS }),
    ]);
    const listsOf = async ({ client }: Host) => [
      await client.listResources(),
      await client.listResourceTemplates(),
      await client.listPrompts(),
      client.getServerCapabilities(),
    ];
    expect(await listsOf(keyless)).toEqual(await listsOf(fewer));
    const { prompts } = await keyless.client.listPrompts();
    expect(namesOf(prompts)).toContain("triage-disputes");
    expect(namesOf(prompts)).not.toContain("ask-payments");
    await Promise.all([keyless.close(), fewer.close()]);
  });

  it("names no hidden tool in instructions and guide", async () => {
    const host = await connect();
    const { contents } = await host.client.readResource({ uri: "receivables://guide" });
    const text = JSON.stringify([host.client.getInstructions(), contents]);
    for (const name of HIDDEN_INSIGHTS) expect(text).not.toContain(`- ${name}:`);
    expect(text).toContain("- disputes_triage:");
    expect(text).not.toContain("## Payments");
  });

  it("answers a call of a hidden tool with the missing key, before arguments and the person", async () => {
    const host = await connect();
    for (const name of [
      "payments_query",
      "documents_get",
      "payments_summarize",
      "webhooks_create",
    ]) {
      const result = await host.call(name, {});
      expect([name, result.isError, readText(result)]).toEqual([
        name,
        true,
        expect.stringContaining(MISSING),
      ]);
    }
  });

  it("refuses hidden prompts with the missing key, and unknown names as before", async () => {
    const { client, call, close } = await connect();
    expect(await refusalOf(client.getPrompt({ name: "export-health" }))).toContain(MISSING);
    expect(await refusalOf(client.getPrompt({ name: "exports" }))).toContain("Unknown prompt");
    expect(await refusalOf(call("payments_pay"))).toContain("Unknown tool");
    await close();
  });

  it("does not know a hidden tool that its settings disable", async () => {
    const { call, close } = await connect({ toolsets: ["disputes"] });
    expect(await refusalOf(call("payments_query"))).toContain("Unknown tool");
    await close();
  });

  it("finds no hidden tool in discovery mode, and says there which key is missing", async () => {
    const host = await connect({ discovery: true });
    const found = await host.call("find_tools", { query: "query payments" });
    expect(readText(found)).toContain('"tools":[{');
    expect(readText(found)).not.toContain('"name":"payments_query"');
    const called = await host.call("call_tool", { name: "payments_query", arguments: {} });
    expect([called.isError, readText(called)]).toEqual([true, expect.stringContaining(MISSING)]);
  });

  it("answers the lists of a handshake from the settings alone", async () => {
    const options = await createOptions(scriptBroker({}), { settings: { lacksExportKey: true } });
    const handshake = createHandshake(options);
    const initialize = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "host", version: "1" },
    };
    const ask = (method: string, params: object) =>
      handshake.answer(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })) ?? "";
    ask("initialize", initialize);
    const { result } = JSON.parse(ask("tools/list", {})) as { result: { tools: unknown } };
    expect(result.tools).toEqual(toolList(options.settings));
  });
});
