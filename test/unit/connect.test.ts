import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/bin/config.ts";
import { formatConnectHints } from "../../src/bin/connect.ts";

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
  const [line = "{}"] = /\{ "mcpServers".*/.exec(text) ?? [];
  const parsed = JSON.parse(line) as { mcpServers: { receivables: { env: unknown } } };
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

  it("send a desktop host to the public address of a server with sign-in", () => {
    const behindProxy = hints({ auth: "builtin" }, {}, PUBLIC);
    expect(behindProxy).toContain(`Add custom connector: ${PUBLIC}`);
    expect(behindProxy).not.toContain("mcpServers");
    expect(hints({ auth: "issuer" })).toContain("RECEIVABLES_PUBLIC_URL");
  });
});
