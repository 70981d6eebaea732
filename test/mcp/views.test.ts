import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { describe, expect, it } from "vitest";
import { createBuildServer } from "../../src/mcp/server.ts";
import { activeOperationTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { mayAsk } from "../../src/mcp/tools/listing/kinds.ts";
import { toolList } from "../../src/mcp/tools/listing/tool-list.ts";
import { CONFIRM_TOOL, CONFIRM_URI, VIEW_TYPE, VIEWS } from "../../src/views/views.ts";
import { ALL, createOptions, type Setup } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

type Mode = "auto" | "legacy";

const SHOWS = { "io.modelcontextprotocol/ui": { mimeTypes: [VIEW_TYPE] } };

const connect = async (
  mode: Mode,
  extensions: Record<string, { mimeTypes?: string[] }>,
  settings: Setup["settings"] = {},
): Promise<Client> => {
  const build = createBuildServer(await createOptions(scriptBroker({}), { settings }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  serveStdio((context) => build(context), { transport: ours });
  const info = { name: "host", version: "1" };
  const client = new Client(info, { capabilities: { extensions }, versionNegotiation: { mode } });
  await client.connect(theirs);
  return client;
};

const viewUris = async (client: Client): Promise<string[]> => {
  const { resources } = await client.listResources();
  return resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("ui://"));
};

const readHtml = async (client: Client, uri: string): Promise<string> => {
  const { contents } = await client.readResource({ uri });
  return (contents[0] as { text: string }).text;
};

const BOARD = VIEWS[0]?.uri ?? "";

describe.each<Mode>(["auto", "legacy"])("views for a host that connects in %s mode", (mode) => {
  it("are named by the tools whose results they show, and listed as resources", async () => {
    const client = await connect(mode, SHOWS);
    const { tools } = await client.listTools();
    const named = tools.flatMap(({ name, _meta }) =>
      name === CONFIRM_TOOL || _meta?.["ui"] === undefined
        ? []
        : [[name, (_meta["ui"] as { resourceUri: string }).resourceUri]],
    );
    const isConfirm = ([, uri]: unknown[]) => uri === CONFIRM_URI;
    const shown = VIEWS.filter(({ uri }) => uri !== CONFIRM_URI);
    const expected = shown.flatMap(({ shows, uri }) => shows.map((tool) => [tool, uri]));
    expect(named.filter((one) => !isConfirm(one)).toSorted()).toEqual(expected.toSorted());
    const asking = activeOperationTools(ALL).filter(mayAsk);
    expect(named.filter(isConfirm).map(([name]) => name)).toEqual(asking.map(({ name }) => name));
    expect(await viewUris(client)).toEqual(VIEWS.map(({ uri }) => uri));
    await client.close();
  });

  it.each([
    ["does not announce them", {}],
    ["shows pages of another type", { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } }],
    ["names no type", { "io.modelcontextprotocol/ui": {} }],
  ])("do not exist for a host that %s", async (_what, extensions) => {
    const client = await connect(mode, extensions);
    expect((await client.listTools()).tools).toEqual(toolList(ALL));
    expect(await viewUris(client)).toEqual([]);
    await client.close();
  });

  it("are self-contained files that no domain may serve anything to", async () => {
    const client = await connect(mode, SHOWS);
    for (const { uri, title } of VIEWS) {
      const { contents } = await client.readResource({ uri });
      const [content] = contents as unknown as {
        mimeType: string;
        text: string;
        _meta: { ui: object };
      }[];
      expect(content?.mimeType).toBe(VIEW_TYPE);
      expect(content?._meta.ui).toMatchObject({ csp: { connectDomains: [], resourceDomains: [] } });
      const html = content?.text ?? "";
      expect(html.length).toBeLessThanOrEqual(300 * 1024);
      expect(html).toContain(`<title>${title}</title>`);
      expect(html).toContain("default-src 'none'");
      expect(html).not.toMatch(
        /\s(?:src|href)=["']|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket/,
      );
      expect(html).not.toMatch(/\beval\(|new Function|dangerouslySetInnerHTML=|document\.write/);
    }
    await client.close();
  });

  it("name the tools that the server has", async () => {
    const tools = async (settings: Setup["settings"]): Promise<string> => {
      const client = await connect(mode, SHOWS, settings);
      const html = await readHtml(client, BOARD);
      await client.close();
      return /data-tools="([^"]*)"/.exec(html)?.[1] ?? "";
    };
    expect(await tools({})).toBe(
      "disputes_triage dispute_packet dispute_attachments_download disputes_summary find_records account_overview documents_get disputes_list disputes_update disputes_apply dispute_notes_create assignees_list resolutions_list",
    );
    expect(await tools({ readOnly: true })).toBe(
      "disputes_triage dispute_packet dispute_attachments_download disputes_summary find_records account_overview documents_get disputes_list assignees_list resolutions_list",
    );
  });

  it("are absent where the tools are", async () => {
    const client = await connect(mode, SHOWS, { toolsets: ["audit"] });
    expect(await viewUris(client)).toEqual([]);
    await expect(client.readResource({ uri: BOARD })).rejects.toThrow(/not found/i);
    await client.close();
  });
});
