import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { CLI, type Ended, runCli, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const DEBUG = { RECEIVABLES_LOG: "debug" };

/** Planted secrets by name; none may appear in any output. */
const secrets = new Map<string, string>([
  ["master key", "canary-master-key-5f2b8c1d9e7a4630"],
  ["password", "canary password 93c1"],
  ["wrong password", "canary wrong password 17ae"],
  ["database password", "canary-database-77d0"],
  ["bearer token", "canary-bearer-1c9f4e2a"],
  ["session header", "canary-session-header-2f8b"],
  ["wrong API key", "canary-api-key-8d21c07b"],
]);
/** Not a secret, but personal data: the host that sent it may get it back, logs may not contain it. */
const ARGUMENT = "canary-argument-4b7e";
const secret = (name: string): string => secrets.get(name) ?? "";

/** All output, with the place that it came from. */
const outputs: [string, string][] = [];
const heard = (where: string, { stdout, stderr }: Pick<Ended, "stdout" | "stderr">): void => {
  outputs.push([`${where}, stdout`, stdout], [`${where}, stderr`, stderr]);
};

const folder = useFolder();
let base: Record<string, string>;
let commandLines = "";

const cli = async (line: string[], env: Record<string, string> = base, input = "") => {
  const ended = await runCli(line, env, input);
  heard(line.slice(0, 2).join(" "), ended);
  return ended;
};

const told = <T>(where: string, answer: T): T => {
  outputs.push([where, JSON.stringify(answer)]);
  return answer;
};

const commandLineOf = async ({ pid }: Running): Promise<void> => {
  commandLines += await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
};

const filesIn = async (path: string): Promise<string[]> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
};

type Message = {
  id?: number;
  result?: { _meta?: { "receivables/confirmation"?: { confirmationToken: string } } };
};

const request = (id: number, method: string, params: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const call = (id: number, name: string, args: object = {}) =>
  request(id, "tools/call", { name, arguments: args });

const HELLO = request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

const HOOK = { callbackUrl: "https://127.0.0.1:9443/hook" };

/** Calls that succeed, that fail, and that no server expects; the last one is answered last of all. */
const SCRIPT = [
  call(2, "auth_login"),
  call(3, "api_keys_create"),
  call(4, "webhooks_create", HOOK),
  call(5, "departments_create", { code: "AR", description: "Receivables" }),
  call(6, "departments_list"),
  call(7, "disputes_get", { disputeId: ARGUMENT }),
  call(8, "auth_login", { password: ARGUMENT }),
  call(9, "departments_delete", { departmentId: "none" }),
  call(10, "no_such_tool", { a: ARGUMENT }),
  request(11, "resources/read", { uri: "receivables://disputes/none" }),
  call(12, "payments_query", { source: "cashapp" }),
  call(13, "audit_logs_list", { limit: 3 }),
  call(14, "users_profile"),
];

const driveStdio = async (env: Record<string, string>): Promise<void> => {
  const server = startCli(["stdio"], { ...env, ...DEBUG });
  await commandLineOf(server);
  for (const line of [HELLO, ...SCRIPT]) server.stdin.write(`${JSON.stringify(line)}\n`);
  const answers = (): Message[] =>
    server.texts.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Message)
      .filter(({ id }) => id !== undefined);
  const answered = async (count: number): Promise<void> => {
    await vi.waitFor(
      () => {
        if (answers().length < count) throw new Error(`too few answers: ${server.texts.stderr}`);
      },
      { timeout: 40_000 },
    );
  };
  await answered(SCRIPT.length + 1);
  const asked = answers().find(({ id }) => id === 4)?.result?._meta?.["receivables/confirmation"];
  const again = call(15, "webhooks_create", {
    ...HOOK,
    ...(asked && { confirmationToken: asked.confirmationToken }),
  });
  server.stdin.write(`${JSON.stringify(again)}\n`);
  await answered(SCRIPT.length + 2);
  server.stdin.write(`{"jsonrpc":"2.0","method":"${ARGUMENT}\n`);
  await server.end("stdin");
  heard("stdio", server.texts);
};

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  authorization: `Bearer ${secret("bearer token")}`,
};

const driveHttp = async (env: Record<string, string>): Promise<void> => {
  const server = startCli(["http", "--port", "0"], { ...env, ...DEBUG });
  const { mcpUrl = "", baseUrl } = await whenReady(server);
  await commandLineOf(server);
  const post = async (body: string, more: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(mcpUrl, {
      method: "POST",
      body,
      headers: { ...HEADERS, ...more },
    });
    told("HTTP answer", await response.text());
    return response;
  };
  const begun = await post(JSON.stringify(HELLO));
  // The session id gives access to the session, so only its host may receive it.
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  secrets.set("session id", session["mcp-session-id"]);
  for (const line of SCRIPT) await post(JSON.stringify(line), session);
  await post("{", session);
  await post(JSON.stringify(HELLO), { "content-type": "text/plain" });
  await post(JSON.stringify(SCRIPT[0]), { "mcp-session-id": secret("session header") });
  await post(JSON.stringify(HELLO), { origin: `https://${ARGUMENT}.example` });
  const rest = await fetch(`${baseUrl}/dispute/v1/tenants/demo/disputes`, {
    headers: { "X-Platform-Auth": secret("bearer token"), "X-API-Key": secret("bearer token") },
  });
  told("REST refusal", await rest.text());
  await server.end("SIGTERM");
  heard("http", server.texts);
};

const keep = async (name: string, line: string[], env: Record<string, string>) => {
  const out = join(folder, `shown-${secrets.size}`);
  await runCli([...line, "--out", out], env);
  secrets.set(name, (await readFile(out, "utf8")).trim());
};

describe("planted secrets", () => {
  beforeAll(async () => {
    base = {
      RECEIVABLES_DATA: join(folder, "platform"),
      RECEIVABLES_SECRET_KEY: secret("master key"),
      RECEIVABLES_WEBHOOK_ALLOW: "127.0.0.0/8",
      ...DEBUG,
    };
    await cli(["admin", "tenant", "create", "acme", "--name", "Acme"]);
    const email = "ann@acme.example";
    const names = ["--first-name", "Ann", "--last-name", "Lee", "--role", "Administrator"];
    await cli(
      ["admin", "user", "create", "--tenant", "acme", "--email", email, ...names],
      base,
      secret("password"),
    );
    // The only command that prints a secret.
    const issued = await runCli(["admin", "key", "issue", "--tenant", "acme", "--name", "k"], base);
    secrets.set("export key", (JSON.parse(issued.stdout) as { apiKey: string }).apiKey);
    outputs.push(["key issue, stderr", issued.stderr]);

    const platform = startCli(["platform", "--port", "0"], base);
    const { baseUrl } = await whenReady(platform);
    await commandLineOf(platform);
    const login = async (password: string) =>
      (await fetch(`${baseUrl}/authentication/v1/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password }),
      }).then((response) => response.json())) as { accessToken?: string };
    secrets.set("session token", (await login(secret("password"))).accessToken ?? "");
    told("refused login", await login(secret("wrong password")));

    const client = {
      RECEIVABLES_DATA: join(folder, "client"),
      RECEIVABLES_SECRET_KEY: secret("master key"),
      RECEIVABLES_BASE_URL: baseUrl,
      RECEIVABLES_TENANT_ID: "acme",
      RECEIVABLES_EMAIL: email,
      RECEIVABLES_PASSWORD: secret("password"),
      RECEIVABLES_EXT_API_KEY: secret("export key"),
      ...DEBUG,
    };
    await driveStdio(client);
    const { stdout } = await cli(["secrets", "list"], client);
    const kept = stdout.trim().split("\n");
    for (const line of kept) {
      const { name, kind } = JSON.parse(line) as { name: string; kind: string };
      await keep(kind, ["secrets", "show", name], client);
    }
    await cli(["doctor"], client);
    await cli(["audit"], client);
    await cli(["profiles"], client);
    await cli(["doctor"], { ...client, RECEIVABLES_PASSWORD: secret("wrong password") });
    await cli(["doctor"], { ...client, RECEIVABLES_API_KEY: secret("wrong API key") });
    await platform.end("SIGTERM");
    heard("platform", platform.texts);

    await driveHttp({
      RECEIVABLES_DATA: join(folder, "demo"),
      RECEIVABLES_SECRET_KEY: secret("master key"),
    });
    await cli(["http", "--port", "0"], {
      ...base,
      DATABASE_URL: `postgres://ann:${secret("database password")}@127.0.0.1:1/none`,
    });
    await cli(["platform", "--port", "0"], { ...base, RECEIVABLES_TOKEN_IDLE_SECONDS: "x" });
  }, 180_000);

  verifies("C-81");
  it("are in no output: answers, logs, reports, refusals", () => {
    expect([...secrets.keys()]).toEqual(
      expect.arrayContaining([
        "session token",
        "export key",
        "api-key",
        "webhook-secret",
        "session id",
      ]),
    );
    expect(outputs.length).toBeGreaterThan(40);
    expect(outputs.map(([, text]) => text).join("")).toContain("tool.called");
    const found = outputs.flatMap(([where, text]) =>
      [...secrets].filter(([, value]) => text.includes(value)).map(([name]) => [name, where]),
    );
    expect(found).toEqual([]);
    for (const value of secrets.values()) expect(value.length).toBeGreaterThan(15);
    const logs = outputs.filter(([where]) => where.endsWith("stderr") || where.startsWith("audit"));
    expect(logs.filter(([, text]) => text.includes(ARGUMENT)).map(([where]) => where)).toEqual([]);
  });

  verifies("OP-33");
  it("are not the only ones left out of logs: so are e-mail addresses of people", () => {
    const lines = outputs
      .flatMap(([, text]) => text.split("\n"))
      .filter((line) => line.includes('"level":'));
    expect(lines.filter((line) => line.includes('"tool.called"')).length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes("ann@acme.example"))).toEqual([]);
  });

  verifies("C-81");
  it("are not in the arguments of any process", () => {
    if (process.platform === "linux") expect(commandLines).toContain(CLI);
    for (const value of secrets.values()) expect(commandLines).not.toContain(value);
  });

  verifies("C-81");
  it("are not in clear text in any file of a data folder", async () => {
    const files = (
      await Promise.all(["platform", "client", "demo"].map((name) => filesIn(join(folder, name))))
    ).flat();
    expect(files.some((file) => file.endsWith("audit.ndjson"))).toBe(true);
    expect(files.some((file) => file.endsWith(".db"))).toBe(true);
    const found: [string, string][] = [];
    for (const file of files) {
      const text = await readFile(file, "latin1");
      for (const [name, value] of secrets) if (text.includes(value)) found.push([name, file]);
    }
    expect(found).toEqual([]);
  });
});
