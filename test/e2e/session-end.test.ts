import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startCli, whenReady } from "../support/cli.ts";
import { json, type Seen, wildServer, type WildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const TOKEN = `canary-token-${"x".repeat(32)}`;
const SESSION = "canary-session";

let folder: string;
let platform: WildServer;
let env: Record<string, string>;

const answer = ({ url }: Seen, response: Parameters<typeof json>[0]): void => {
  if (url.endsWith("/login")) {
    json(response, 200, {
      status: "LOGIN_SUCCESS",
      userId: "u",
      email: "ann@acme.example",
      accessToken: SESSION,
      refreshToken: "canary-refresh",
      expiresIn: 3600,
      createdDate: "2026-01-02T03:04:05.678Z",
      tenants: [],
      defaultTenantId: null,
    });
  } else json(response, 200, url.endsWith("/logout") ? { status: "LOGOUT_SUCCESS" } : []);
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "session-end-"));
  platform = await wildServer(answer);
  env = {
    RECEIVABLES_DATA: folder,
    RECEIVABLES_BASE_URL: platform.url,
    RECEIVABLES_TENANT_ID: "acme",
    RECEIVABLES_EMAIL: "ann@acme.example",
    RECEIVABLES_PASSWORD: "canary-password",
  };
});
afterEach(async () => {
  await platform.close();
  await rm(folder, { recursive: true, maxRetries: 3 });
});

const ends = () =>
  platform.seen.filter(({ url }) => url.endsWith("/logout")).map(({ body }) => body);
const steps = () => platform.seen.map(({ url }) => url.split("/").at(-1));

const requests = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "departments_list", arguments: {} },
  },
];

describe("the session with the platform is closed at exit", () => {
  verifies("AUTH-11");
  it.each(["stdin", "SIGTERM", "SIGINT"] as const)("over stdio, after %s", async (how) => {
    const server = startCli([], env);
    for (const request of requests) server.stdin.write(`${JSON.stringify(request)}\n`);
    await expect.poll(() => server.texts.stdout, { timeout: 30_000 }).toContain('"id":2');
    const { status } = await server.end(how);
    expect(status).toBe(0);
    expect(steps()).toEqual(["login", "departments", "logout"]);
    expect(ends()).toEqual([JSON.stringify({ accessToken: SESSION })]);
    expect(server.texts.stdout + server.texts.stderr).not.toContain("canary");
  });

  verifies("HS-06");
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "over stdio, after the call that was running at %s is answered",
    async (signal) => {
      const server = startCli([], env);
      for (const request of requests) server.stdin.write(`${JSON.stringify(request)}\n`);
      await expect.poll(steps, { timeout: 30_000, interval: 5 }).toContain("login");
      const { status } = await server.end(signal);
      expect(status).toBe(0);
      expect(server.texts.stdout).toContain('"id":2');
      expect(steps()).toEqual(["login", "departments", "logout"]);
    },
  );

  verifies("AUTH-11", "C-81");
  it.each(["SIGTERM", "SIGINT"] as const)("over HTTP, after %s", async (how) => {
    const tokens = join(folder, "tokens");
    await writeFile(tokens, `${TOKEN} default read,write,admin\n`, { mode: 0o600 });
    const settings = { ...env, RECEIVABLES_HTTP_TOKENS_FILE: tokens };
    const server = startCli(["http", "--port", "0"], settings);
    const { mcpUrl = "" } = await whenReady(server);
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
      requestInit: { headers },
    });
    await client.connect(transport);
    await client.callTool({ name: "departments_list", arguments: {} });
    await client.close();
    expect(ends()).toEqual([]);
    const { status } = await server.end(how);
    expect(status).toBe(0);
    expect(steps()).toEqual(["login", "departments", "logout"]);
    expect(server.texts.stdout + server.texts.stderr).not.toContain("canary");
  });
});
