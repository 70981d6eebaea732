import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { request as rawRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { json, wildServer } from "../support/wild-server.ts";
import {
  BEFORE_THE_CUT_MS,
  connectStdio,
  type Ready,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { verifies } from "../support/verifies.ts";

const SECOND = 1000;

let folder: string;
let env: Record<string, string>;

const fresh = async (): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), "servers-"));
  env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "info" };
};
const gone = () => rm(folder, { recursive: true, maxRetries: 3 });

const hello = (id: number) => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
});

const say = ({ stdin }: Running, message: object): void => {
  stdin.write(`${JSON.stringify(message)}\n`);
};

const answerTo = async ({ texts }: Running, id: number): Promise<Record<string, unknown>> => {
  let found: Record<string, unknown> | undefined;
  await expect
    .poll(
      () => {
        const lines = texts.stdout.split("\n").slice(0, -1);
        found = lines
          .map((line) => JSON.parse(line) as Record<string, unknown>)
          .find((message) => message["id"] === id);
        return found;
      },
      { timeout: 20 * SECOND },
    )
    .toBeDefined();
  return found ?? {};
};

const call = (id: number, name: string, args: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

const connected = (more: Record<string, string> = {}): Promise<Client> =>
  connectStdio({ ...env, ...more });

type Answer = { isError?: boolean; structuredContent?: Record<string, unknown>; content: unknown };
const tool = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as Answer;

describe("stdio", () => {
  beforeEach(fresh);
  afterEach(gone);

  it("lists its tools without store, key or folder", async () => {
    const client = await connected();
    expect((await client.listTools()).tools.length).toBeGreaterThan(40);
    expect(existsSync(join(folder, "data"))).toBe(false);
    await client.close();
  });

  it("works on the demo tenant from the first call, without any setting", async () => {
    const client = await connected();
    const { structuredContent } = await tool(client, "disputes_list", { PageSize: 3 });
    expect(structuredContent).toMatchObject({ count: 3, total: 300 });
    expect(await readFile(join(folder, "data", "demo.sealed"), "latin1")).not.toContain("rcv");
    await client.close();
  });

  it("survives concurrent first starts on one folder", async () => {
    const clients = await Promise.all([connected(), connected(), connected()]);
    const all = await Promise.all(clients.map((client) => tool(client, "disputes_list")));
    for (const { structuredContent } of all) expect(structuredContent?.["total"]).toBe(300);
    const logins = await Promise.all(clients.map((client) => tool(client, "auth_login")));
    for (const { isError } of logins) expect(isError).not.toBe(true);
    await Promise.all(clients.map((client) => client.close()));
  });

  it.each(["stdin", "SIGTERM", "SIGINT"] as const)(
    "exits after %s, with the platform open and a session",
    async (how) => {
      const server = startCli([], env);
      say(server, hello(1));
      await answerTo(server, 1);
      say(server, call(2, "disputes_list"));
      await answerTo(server, 2);
      say(server, call(3, "auth_login"));
      await answerTo(server, 3);
      const { status, ms } = await server.end(how);
      expect(status).toBe(0);
      expect(ms).toBeLessThan(BEFORE_THE_CUT_MS);
    },
  );

  verifies("C-81");
  it("writes only JSON-RPC to stdout, and no secret anywhere", async () => {
    const server = startCli(["stdio"], { ...env, RECEIVABLES_LOG: "debug" });
    say(server, hello(1));
    await answerTo(server, 1);
    say(server, call(2, "auth_login"));
    say(server, call(3, "api_keys_create"));
    say(server, call(4, "disputes_get", { disputeId: "nothing" }));
    await Promise.all([2, 3, 4].map((id) => answerTo(server, id)));
    await server.end("stdin");
    for (const line of server.texts.stdout.trimEnd().split("\n")) {
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    }
    for (const line of server.texts.stderr.trimEnd().split("\n")) {
      expect(JSON.parse(line)).toHaveProperty("event");
    }
    expect(server.texts.stdout + server.texts.stderr).not.toMatch(/rcv[gx]_|accessToken/);
    const called = await runCli(["audit"], env);
    const calls = called.stdout.trimEnd().split("\n");
    expect(
      calls
        .slice(-3)
        .map((line) => JSON.parse(line).tool)
        .toSorted(),
    ).toEqual(["api_keys_create", "auth_login", "disputes_get"]);
    expect(called.stdout).not.toContain("nothing");
    const stored = await runCli(["secrets", "list"], env);
    expect(JSON.parse(stored.stdout)).toMatchObject({ kind: "api-key" });
  });

  it.runIf(process.platform === "linux")(
    "ends at once where the data folder cannot be made",
    async () => {
      const unusable = { ...env, RECEIVABLES_DATA: "/proc/receivables/data" };
      for (const command of ["platform", "http"]) {
        const { status, stderr } = await runCli([command, "--port", "0"], unusable);
        expect([status, stderr]).toEqual([1, expect.stringMatching(/mkdir '\/proc\/.*\n.*--data/)]);
      }
    },
  );

  it("explains an unusable data folder, and still lists its tools", async () => {
    const client = await connected({ RECEIVABLES_DATA: "/dev/null/data" });
    expect((await client.listTools()).tools.length).toBeGreaterThan(40);
    const answer = await tool(client, "disputes_list");
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer.content)).toContain("/dev/null/data");
    await client.close();
  });

  verifies("HS-06");
  it("starts where the home can have no folders, not even one for its compile cache", async () => {
    const client = await connected({ HOME: "/proc/self", RECEIVABLES_DATA: "/proc/self/data" });
    const answer = await tool(client, "find_records", { text: "5222244" });
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer.content)).toContain("/proc/self/data");
    await client.close();
  });
});

describe("stdio with a remote platform", () => {
  let platform: Running;
  let ready: Ready;
  let own: Record<string, string>;
  const PASSWORD = "canary-password";
  const EMAIL = "ann@acme.example";

  beforeAll(async () => {
    await fresh();
    const admin = (line: string, input = "") => runCli(["admin", ...line.split(" ")], env, input);
    await admin("tenant create acme --name Acme");
    await admin(
      `user create --tenant acme --email ${EMAIL} --first-name A --last-name L --role Administrator`,
      PASSWORD,
    );
    const { stdout } = await admin("key issue --tenant acme --name mcp");
    const short = { RECEIVABLES_TOKEN_IDLE_SECONDS: "8" };
    platform = startCli(["platform", "--port", "0"], { ...env, ...short });
    ready = await whenReady(platform);
    own = {
      ...short,
      RECEIVABLES_DATA: join(folder, "client"),
      RECEIVABLES_BASE_URL: ready.baseUrl,
      RECEIVABLES_TENANT_ID: "acme",
      RECEIVABLES_EMAIL: EMAIL,
      RECEIVABLES_PASSWORD: PASSWORD,
      RECEIVABLES_EXT_API_KEY: (JSON.parse(stdout) as { apiKey: string }).apiKey,
    };
  });
  afterAll(async () => {
    await platform.end("SIGTERM");
    await gone();
  });

  const actions = async (client: Client): Promise<string[]> => {
    const { structuredContent } = await tool(client, "audit_logs_list", {
      limit: 100,
      fields: ["action"],
    });
    const data = structuredContent?.["data"] as { action: string }[];
    return data.map(({ action }) => action);
  };

  it("serves no platform and no demo tenant over HTTP", async () => {
    const server = startCli(["http", "--port", "0"], {
      ...own,
      RECEIVABLES_DATA: join(folder, "door"),
    });
    const { baseUrl, extBaseUrl, mcpUrl = "" } = await whenReady(server);
    expect([baseUrl, extBaseUrl]).toEqual([ready.baseUrl, ready.baseUrl]);
    const { origin } = new URL(mcpUrl);
    const asked = ["/health", "/openapi.json", "/dispute/v1/tenants/demo/disputes"];
    const answers = await Promise.all(asked.map((path) => fetch(origin + path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404]);
    await server.end("SIGTERM");
    const files = await readdir(join(folder, "door"));
    expect(files.filter((name) => name.startsWith("receivables.db"))).toEqual([]);
  });

  verifies("C-82");
  it("records every call in the tenant's audit log, and uses one session", async () => {
    const client = await connected(own);
    await tool(client, "departments_create", { code: "AR", description: "Receivables" });
    const kept = { timeout: 40 * SECOND, interval: SECOND };
    await expect.poll(() => actions(client), kept).toContain("auth.verified");
    const listed = await tool(client, "departments_list");
    expect(listed.structuredContent).toMatchObject({ count: 1 });
    const seen = await actions(client);
    expect(seen).toEqual(expect.arrayContaining(["department.created", "department.listed"]));
    expect(seen.filter((action) => action === "auth.logged_in")).toHaveLength(1);
    await client.close();
  });

  verifies("D-MCP-4");
  it("creates a working key, and gives it to a person only", async () => {
    const client = await connected(own);
    const made = await tool(client, "api_keys_create");
    expect(made.isError).not.toBe(true);
    const name = String(made.structuredContent?.["storedAs"]);
    await client.close();
    const out = join(folder, "key");
    const data = { RECEIVABLES_DATA: join(folder, "client") };
    await runCli(["secrets", "show", name, "--out", out], data);
    const { RECEIVABLES_EMAIL: _email, RECEIVABLES_PASSWORD: _password, ...rest } = own;
    const keyed = await connected({ ...rest, RECEIVABLES_API_KEY_FILE: out });
    expect((await tool(keyed, "departments_list")).isError).not.toBe(true);
    const second = await tool(keyed, "api_keys_create");
    expect(JSON.stringify(second.content)).toContain("RECEIVABLES_EMAIL");
    await keyed.close();
  });

  it("names a missing setting", async () => {
    const { RECEIVABLES_EMAIL: _email, ...rest } = own;
    const client = await connected(rest);
    expect(JSON.stringify((await tool(client, "departments_list")).content)).toContain(
      "RECEIVABLES_API_KEY",
    );
    await client.close();
  });

  verifies("C-60");
  it("sends the credential to the configured address only", async () => {
    const elsewhere = await wildServer((_request, response) => {
      json(response, 200, []);
    });
    const front = await wildServer((_request, response) => {
      response.writeHead(302, { location: elsewhere.url }).end();
    });
    const client = await connected({ ...own, RECEIVABLES_BASE_URL: front.url });
    expect((await tool(client, "departments_list")).isError).toBe(true);
    expect(elsewhere.seen).toEqual([]);
    await client.close();
    await front.close();
    await elsewhere.close();
  });
});

describe("http", () => {
  let server: Running;
  let ready: Ready;
  beforeAll(async () => {
    await fresh();
    server = startCli(["http", "--port", "0"], env);
    ready = await whenReady(server);
  });
  afterAll(async () => {
    await server.end("SIGTERM");
    await gone();
  });

  it("prints one ready line, and JSON lines on stderr where that is no terminal", async () => {
    expect(ready.mcpUrl).toBe(`${ready.baseUrl}/mcp`);
    expect((await fetch(`${ready.baseUrl}/health`)).status).toBe(200);
    await expect.poll(() => server.texts.stderr).toContain("\n");
    for (const line of server.texts.stderr.split("\n").slice(0, -1)) {
      expect(JSON.parse(line)).toHaveProperty("event");
    }
    expect(server.texts.stdout.trimEnd().split("\n")).toHaveLength(1);
  });

  it("serves the demo tenant's tools", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(ready.mcpUrl ?? "")));
    const { structuredContent } = await tool(client, "disputes_list", { PageSize: 1 });
    expect(structuredContent).toMatchObject({ total: 300 });
    await client.close();
  });

  const post = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
      };
      const sent = rawRequest(ready.mcpUrl ?? "", options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on("error", reject);
      sent.end(JSON.stringify(hello(1)));
    });

  verifies("C-64");
  it("refuses a foreign Origin and a foreign Host", async () => {
    expect(await post({})).toBe(200);
    expect(await post({ origin: "https://evil.example" })).toBe(403);
    expect(await post({ host: "evil.example" })).toBe(403);
  });

  it("refuses requests to the REST platform without a credential", async () => {
    const { status } = await fetch(`${ready.baseUrl}/dispute/v1/tenants/demo/disputes`);
    expect(status).toBe(401);
  });

  verifies("C-64");
  it.each([
    ["another address", ["--host", "0.0.0.0"], {}],
    ["another tenant", [], { RECEIVABLES_TENANT_ID: "acme" }],
    ["a person's own credential", [], { RECEIVABLES_API_KEY: "rcvg_x" }],
    ["a remote platform", [], { RECEIVABLES_BASE_URL: "http://127.0.0.1:1" }],
  ])("opens no door without a token to %s", async (_what, line, more) => {
    const own = { ...env, RECEIVABLES_DATA: join(folder, "closed"), ...more };
    const refused = await runCli(["http", "--port", "0", ...line], {
      ...own,
      RECEIVABLES_HTTP_AUTH: "none",
    });
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("Unset it to use static tokens");
    const other = startCli(["http", "--port", "0", ...line], own);
    const { mcpUrl = "" } = await whenReady(other);
    expect((await fetch(mcpUrl, { method: "POST", body: "{}" })).status).toBe(401);
    const catalog = await fetch(new URL("/.well-known/ai-catalog.json", mcpUrl));
    const { entries } = (await catalog.json()) as { entries: { url: string }[] };
    expect(entries.map(({ url }) => url)).toEqual([`${mcpUrl}/server-card`]);
    const card = await fetch(`${mcpUrl}/server-card`, { headers: { origin: "https://a.example" } });
    expect(card.headers.get("access-control-allow-origin")).toBe("*");
    expect(await card.json()).toMatchObject({
      remotes: [{ type: "streamable-http", url: mcpUrl }],
    });
    await other.end("SIGTERM");
  });

  verifies("C-17");
  it.each(["SIGTERM", "SIGINT"] as const)("ends with 0 on %s", async (signal) => {
    const other = startCli(["http", "--port", "0"], env);
    await whenReady(other);
    const { status, ms } = await other.end(signal);
    expect(status).toBe(0);
    expect(ms).toBeLessThan(BEFORE_THE_CUT_MS);
  });
});
