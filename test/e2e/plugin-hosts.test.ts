import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it } from "vitest";
import { PLUGIN } from "../../scripts/build/plugins.ts";
import { useFolder } from "../support/folder.ts";
import {
  environmentOf,
  hasHost,
  type HostProgram,
  runHost,
  startCodex,
} from "../support/host-programs.ts";
import { unpackPlugins } from "../support/plugins.ts";
import { verifies } from "../support/verifies.ts";

const HOSTS: readonly HostProgram[] = ["claude", "codex", "copilot", "gemini"];

/** A server as Copilot CLI has it registered. */
type Registered = { command: string; args: string[]; env: Record<string, string> };

const folder = useFolder();

/** Each host has a person of its own, with an empty home folder. */
const homeOf = (host: HostProgram): string => join(folder, `home-${host}`);

/** The package that a host installs: Copilot CLI those of the format Agent Plugins. */
const packageOf = (host: HostProgram): string => (host === "copilot" ? "agent-plugin" : host);

/** Runs a command of a host where its package is unpacked; it must succeed. */
const run = async (host: HostProgram, args: readonly string[], input = ""): Promise<string> => {
  const where = { home: homeOf(host), folder: join(folder, packageOf(host)), input };
  const { status, printed } = await runHost(host, args, where);
  expect([status, printed]).toEqual([0, printed]);
  return printed;
};

describe.skipIf(!HOSTS.some(hasHost))("a package that its host installs (needs the hosts)", () => {
  beforeAll(async () => {
    for (const host of HOSTS) await mkdir(homeOf(host));
    await unpackPlugins(folder);
  }, 300_000);

  verifies("RC-03");
  it.skipIf(!hasHost("claude"))("is valid for Claude Code, and its server answers", async () => {
    const source = `./${PLUGIN}`;
    const manifest = join(PLUGIN, ".claude-plugin/plugin.json");
    for (const path of [source, manifest]) {
      expect(await run("claude", ["plugin", "validate", path])).toContain("Validation passed");
    }
    await run("claude", ["plugin", "marketplace", "add", source]);
    await run("claude", ["plugin", "install", `${PLUGIN}@${PLUGIN}`]);
    const servers = await run("claude", ["mcp", "list"]);
    expect(servers).toMatch(new RegExp(`plugin:${PLUGIN}:${PLUGIN}: .*Connected`));
  });

  verifies("RC-03");
  it.skipIf(!hasHost("gemini"))("is valid for Gemini CLI, and its server answers", async () => {
    const source = `./${PLUGIN}`;
    await run("gemini", ["extensions", "validate", source]);
    const options = ["--consent", "--skip-settings"];
    await run("gemini", ["extensions", "install", source, ...options], "y\n");
    expect(await run("gemini", ["mcp", "list"])).toMatch(new RegExp(`✓ ${PLUGIN} .*Connected`));
    const listed = await run("gemini", ["extensions", "list"]);
    for (const skill of await readdir(join(folder, "gemini", PLUGIN, "skills"))) {
      expect(listed).toContain(`${skill}: `);
    }
  });

  verifies("RC-03");
  it.skipIf(!hasHost("copilot"))(
    "is an agent plugin for Copilot CLI, and its server answers as that starts it",
    async () => {
      await run("copilot", ["plugin", "install", `./${PLUGIN}`]);
      expect(await run("copilot", ["plugin", "list"])).toContain(PLUGIN);
      const listed = await run("copilot", ["skill", "list"]);
      for (const skill of await readdir(join(folder, "agent-plugin", PLUGIN, "skills"))) {
        expect(listed).toContain(`${skill} - `);
      }
      // It starts servers only for a model, which needs an account.
      const shown = await run("copilot", ["mcp", "get", PLUGIN, "--json", "--show-secrets"]);
      const { [PLUGIN]: server } = JSON.parse(shown) as Record<string, Registered>;
      if (server === undefined) throw new Error("Copilot CLI has no server of the plugin");
      expect(server).toMatchObject({ enabled: true, sourcePluginSpec: true });
      const root = server.env["PLUGIN_ROOT"] ?? "";
      expect(root.startsWith(homeOf("copilot"))).toBe(true);
      const client = new Client({ name: "copilot", version: "1" });
      const args = server.args.map((one) => one.replace("${PLUGIN_ROOT}", () => root));
      const env = { ...environmentOf(homeOf("copilot")), ...server.env };
      await client.connect(
        new StdioClientTransport({
          command: server.command,
          args,
          cwd: root,
          env,
          stderr: "ignore",
        }),
      );
      const answer = await client.callTool({ name: "disputes_list", arguments: { PageSize: 1 } });
      expect(answer.structuredContent).toMatchObject({ total: 300 });
      await client.close();
    },
  );

  verifies("RC-03");
  it.skipIf(!hasHost("codex"))("is installed by Codex, which calls a tool of it", async () => {
    await run("codex", ["plugin", "marketplace", "add", `./${PLUGIN}`]);
    await run("codex", ["plugin", "add", `${PLUGIN}@${PLUGIN}`]);
    expect(await run("codex", ["plugin", "list"])).toContain("installed, enabled");
    const codex = startCodex(homeOf("codex"));
    try {
      const clientInfo = { name: "test", version: "1" };
      await codex.ask("initialize", { clientInfo, capabilities: { experimentalApi: true } });
      codex.notify("initialized");
      const started = await codex.ask("thread/start", { ephemeral: true, sandbox: "read-only" });
      const { thread } = started.result as { thread: { id: string } };
      const call = { threadId: thread.id, server: PLUGIN, tool: "disputes_list" };
      const answer = await codex.ask("mcpServer/tool/call", {
        ...call,
        arguments: { PageSize: 1 },
      });
      expect(answer).toMatchObject({ result: { structuredContent: { total: 300 } } });
    } finally {
      await codex.end();
    }
  });
});
