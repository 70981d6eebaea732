import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { formatConnectHints, listConnectHints } from "../../src/bin/compose/connect.ts";
import {
  createCheckoutCommand,
  listCheckoutBlocks,
  listHttpBlocks,
} from "../../src/bin/compose/host-blocks.ts";
import { verifies } from "../support/verifies.ts";

const LOCAL = "http://127.0.0.1:8765/mcp";
const PUBLIC = "https://mcp.example.com/mcp";
const program = { command: "/opt/node", args: ["/opt/cli.js"] };

type Entrance = Parameters<typeof formatConnectHints>[0]["entrance"];

const hints = (entrance: Entrance, env: Record<string, string> = {}, mcpUrl = LOCAL): string => {
  const config = readConfig({ env, dataFolder: "/data", readFile: () => "rcvg_kept-away" });
  return formatConnectHints({ mcpUrl, entrance, io: { program, config } });
};

/** The settings that the text gives a desktop host. */
const envIn = (text: string): unknown => {
  const [block = "{}"] =
    /^ {4}\{\n {6}"mcpServers": \{\n {8}"receivables": \{\n {10}"command"[\s\S]*?^ {4}\}$/m.exec(
      text,
    ) ?? [];
  const parsed = JSON.parse(block) as { mcpServers: { receivables: { env: unknown } } };
  return parsed.mcpServers.receivables.env;
};

const TOKENS: Entrance = { auth: "static", tokens: { path: "/data/http-tokens", made: undefined } };

describe("instructions to connect hosts", () => {
  it("name only the data folder for the demo tenant", () => {
    const text = hints({ auth: "none" });
    expect(text).toContain(`The demo tenant is ready at ${LOCAL}`);
    expect(envIn(text)).toEqual({ RECEIVABLES_DATA: "/data" });
  });

  it("say that the demo tenant is missing, and what to do", () => {
    const config = readConfig({ env: {}, dataFolder: "/data", readFile: () => "" });
    const io = { program, config };
    const text = formatConnectHints({
      mcpUrl: LOCAL,
      entrance: { auth: "none" },
      io,
      hasDemo: false,
    });
    expect(text).not.toContain("The demo tenant is ready");
    expect(text).toContain("admin demo create");
    expect(text).toContain("RECEIVABLES_HTTP_AUTH=builtin");
  });

  it("give a desktop host the server's platform, tenant and profile, and no secret", () => {
    const text = hints(TOKENS, {
      RECEIVABLES_BASE_URL: "https://platform.example.com",
      RECEIVABLES_TENANT_ID: "acme",
      RECEIVABLES_PROFILE: "work",
      RECEIVABLES_API_KEY_FILE: "/key",
    });
    expect(envIn(text)).toEqual({
      RECEIVABLES_DATA: "/data",
      RECEIVABLES_PROFILE: "work",
      RECEIVABLES_BASE_URL: "https://platform.example.com",
      RECEIVABLES_EXT_BASE_URL: "https://platform.example.com",
      RECEIVABLES_TENANT_ID: "acme",
    });
    expect(text).toMatch(/secrets of this server: RECEIVABLES_API_KEY_FILE\n/);
    expect(text).not.toContain("rcvg_kept-away");
  });

  verifies("HS-09");
  it("are the same blocks at the terminal, on the page and in README, for each system", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const page = listConnectHints(LOCAL, { auth: "none" });
    const terminal = hints({ auth: "none" }).replaceAll(/^ {4}/gm, "");
    for (const { host, place, text } of listHttpBlocks(LOCAL)) {
      expect(page).toContainEqual(expect.objectContaining({ host, place, text }));
      expect(terminal).toContain(`${host}: ${place}\n\n${text}\n`);
      expect(readme).toContain(`\n${text}\n`);
    }
    const checkout = listCheckoutBlocks();
    expect(checkout.map(({ place }) => place)).toEqual([
      expect.stringContaining("macOS and Linux"),
      expect.stringContaining("Windows"),
    ]);
    for (const { text, ...rest } of checkout) {
      expect(page).toContainEqual(expect.objectContaining({ text, host: rest.host }));
      const inReadme = [...readme.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = ""]) =>
        JSON.stringify(JSON.parse(json)),
      );
      expect(inReadme).toContain(JSON.stringify(JSON.parse(text)));
    }
  });

  it("start a checkout by npm with its own path, on Windows by cmd and with slashes", () => {
    const config = readConfig({ env: {}, dataFolder: "/data", readFile: () => "" });
    const own = { command: "/opt/node", args: ["/opt/receivables/src/bin/cli.ts"] };
    const io = { program: own, config };
    const text = formatConnectHints({ mcpUrl: LOCAL, entrance: { auth: "none" }, io });
    expect(text).toContain('"command": "npm"');
    expect(text).toContain('"/opt/receivables"');
    expect(createCheckoutCommand("C:\\Users\\ann\\receivables", true)).toEqual({
      command: "cmd",
      args: [
        "/c",
        "npm",
        "--prefix",
        "C:/Users/ann/receivables",
        "run",
        "-s",
        "cli",
        "--",
        "stdio",
      ],
    });
  });

  it("send a desktop host to the public address of a server with sign-in", () => {
    const behindProxy = hints({ auth: "builtin" }, {}, PUBLIC);
    expect(behindProxy).toMatch(new RegExp(`Add custom connector\\n\\n {4}${PUBLIC}`));
    expect(behindProxy).not.toContain("command");
    expect(hints({ auth: "issuer" })).toContain("RECEIVABLES_PUBLIC_URL");
  });
});
