import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createVault } from "../../src/broker/vault.ts";
import { createMasterKeyReader } from "../../src/config/folder.ts";
import {
  BEFORE_THE_CUT_MS,
  type Ready,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary p%ssword ü ";

const folder = useFolder();
const env = { RECEIVABLES_DATA: folder, RECEIVABLES_LOG: "warn" };

const run = (line: string[], input?: string) => runCli(line, env, input);

/** The command's one JSON object, after a check that it is one and that nothing else was said. */
const result = async (line: string[], input?: string): Promise<Record<string, unknown>> => {
  const { status, stdout, stderr } = await run(line, input);
  expect([stderr, status]).toEqual(["", 0]);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, unknown>;
};

describe("audit", () => {
  it("prints the log of tool calls, by tool, and skips an incomplete line", async () => {
    const entries = ["disputes_get", "disputes_list"].map((tool) => JSON.stringify({ tool }));
    await writeFile(join(folder, "audit.ndjson"), [...entries, '{"tool":"dis'].join("\n"));
    expect(await run(["audit"])).toMatchObject({ status: 0, stdout: `${entries.join("\n")}\n` });
    const one = await run(["audit", "--tool", "disputes_list"]);
    expect(one).toMatchObject({ status: 0, stdout: `${entries[1]}\n` });
    await rm(join(folder, "audit.ndjson"));
    expect(await run(["audit"])).toMatchObject({ status: 0, stdout: "" });
  });
});

describe("printed text", () => {
  verifies("C-74");
  it("has no characters that act on a terminal", async () => {
    const name = "Acme \u009b2J\u001b[2J\u202e";
    const line = JSON.stringify({ tool: name });
    await writeFile(join(folder, "audit.ndjson"), `${line}\n`);
    const { stdout } = await run(["audit"]);
    const noFolder = { ...env, RECEIVABLES_DATA: join(folder, name) };
    const { stderr } = await runCli(["admin", "tenant", "list"], noFolder);
    await rm(join(folder, "audit.ndjson"));
    expect(JSON.parse(stdout)).toEqual({ tool: name });
    expect(stderr).toContain("There is no store in the data folder");
    expect(await readdir(folder)).not.toContain(name);
    expect(stdout + stderr).not.toMatch(/[[\p{C}\p{Zl}]--\n]/v);
  });
});

describe("starting", () => {
  const OLD_NODE = `data:text/javascript,${encodeURIComponent(
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });',
  )}`;

  it("names the required Node.js version on an older one", async () => {
    const old = { ...env, NODE_OPTIONS: `--import ${OLD_NODE}` };
    const { status, stdout, stderr } = await runCli(["export-spec"], old);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^receivables-mcp needs Node\.js 24 or newer/);
  });

  it("resolves files relative to the folder in which npm was called", async () => {
    await writeFile(join(folder, "map.json"), "no JSON");
    const called = {
      npm_lifecycle_event: "cli",
      npm_package_name: "receivables-mcp",
      INIT_CWD: folder,
    };
    await run(["admin", "tenant", "create", "npm", "--name", "N"]);
    const line = ["import", "accounts", "-", "--tenant", "npm", "--map", "map.json"];
    const { stderr } = await runCli(line, { ...env, ...called }, "", tmpdir());
    expect(stderr).toContain("The map is not valid JSON.");
    await rm(join(folder, "map.json"));
  });
});

describe("usage", () => {
  const EVERY = [
    [],
    ["stdio"],
    ["http"],
    ["platform"],
    ["secrets"],
    ["secrets", "show"],
    ["admin"],
    ["admin", "tenant", "create"],
    ["admin", "user", "update"],
    ["admin", "key", "issue"],
  ];
  it.each(EVERY.map((line) => [line.join(" ")]))("explains `%s` with --help", async (line) => {
    const { status, stdout, stderr } = await run([...line.split(" ").filter(Boolean), "--help"]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Usage: receivables-mcp ${line}`.trim());
  });

  const WRONG = [
    ["nonsense"],
    ["stdio", "surplus"],
    ["--no-such-option"],
    ["http", "--port", "70000"],
    ["http", "--host", ""],
    ["platform", "--host", " "],
    ["admin"],
    ["admin", "tenant", "create", "acme"],
    ["admin", "tenant", "create", "acme", "--name", "A", "--currency-model", "odd"],
    ["admin", "user", "update", "--tenant", "acme", "--email", "a@b.example", "--status", "Odd"],
    ["admin", "user", "create", "--tenant", "acme", "--password", "x"],
    ["secrets", "show"],
  ];
  it.each(WRONG.map((line) => [line.join(" "), line]))(
    "ends `%s` with 2 and says nothing on stdout",
    async (_text, line) => {
      const { status, stdout, stderr } = await run(line);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).not.toBe("");
    },
  );

  it("names every wrong setting at once and ends with 2", async () => {
    const { status, stdout, stderr } = await runCli(["stdio"], {
      ...env,
      RECEIVABLES_CONFIRM: "maybe",
      RECEIVABLES_TOOLSETS: "payroll",
    });
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("RECEIVABLES_CONFIRM");
    expect(stderr).toMatch(/RECEIVABLES_TOOLSETS.*payroll.*disputes/);
  });

  it("accepts settings as options too", async () => {
    const { status, stderr } = await run(["stdio", "--toolsets", "payroll"]);
    expect(status).toBe(2);
    expect(stderr).toContain("payroll");
  });
});

describe("admin", () => {
  it("creates, shows and sets a tenant, and refuses one that exists", async () => {
    const made = await result(["admin", "tenant", "create", "acme", "--name", "Acme Ltd."]);
    expect(made).toMatchObject({
      tenantId: "acme",
      name: "Acme Ltd.",
      currencyModel: "basic",
      currency: "USD",
      connectionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      settings: { requireResolutionOnClose: false },
    });
    expect(await result(["admin", "tenant", "show", "acme"])).toEqual(made);
    const set = await result(["admin", "tenant", "set", "acme", "requireResolutionOnClose=true"]);
    expect(set["settings"]).toMatchObject({ requireResolutionOnClose: true });
    for (const line of [
      ["tenant", "create", "acme", "--name", "Again"],
      ["tenant", "create", "Not An Id", "--name", "X"],
      ["tenant", "show", "nobody"],
      ["tenant", "set", "acme", "oddKey=true"],
    ]) {
      const { status, stdout, stderr } = await run(["admin", ...line]);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^[a-z_]+: /);
    }
  });

  it("creates a role and a user with a password from standard input, and changes the user", async () => {
    const grants = ["Dispute Management : READ", "Dispute Management : CREATE"];
    const createRole = ["admin", "role", "create", "--tenant", "acme", "--name", "Clerk"];
    const role = await result(createRole.concat(grants.flatMap((grant) => ["--grant", grant])));
    expect(role).toMatchObject({ name: "Clerk", grants });
    const who = ["--tenant", "acme", "--email", "ann@acme.example"];
    const name = ["--first-name", "Ann", "--last-name", "Lee"];
    const create = ["admin", "user", "create", ...who, ...name, "--role", "Clerk"];
    const user = await result([...create, "--role", "Viewer"], `${PASSWORD}\n`);
    expect(user).toMatchObject({ email: "ann@acme.example", tenantId: "acme", status: "Active" });
    expect((user["roles"] as string[]).toSorted()).toEqual(["Clerk", "Viewer"]);
    const update = ["admin", "user", "update", ...who, "--role", "Administrator"];
    expect(await result(update)).toMatchObject({ roles: ["Administrator"], status: "Active" });
  });

  it("issues a key once and revokes it", async () => {
    const line = ["admin", "key", "issue", "--tenant", "acme", "--name", "bi"];
    const key = await result([...line, "--scopes", "audit:read, export:read"]);
    expect(key).toMatchObject({ tenantId: "acme", scopes: ["audit:read", "export:read"] });
    expect(key["apiKey"]).toMatch(/^rcvx_/);
    const keyId = String(key["keyId"]);
    expect(await result(["admin", "key", "revoke", keyId])).toEqual({ keyId, revoked: true });
    expect((await run(["admin", "key", "revoke", keyId])).status).toBe(1);
  });
});

describe("platform", () => {
  let server: Running;
  let ready: Ready;
  beforeAll(async () => {
    server = startCli(["platform", "--port", "0"], env);
    ready = await whenReady(server);
  });
  afterAll(() => server.end("SIGTERM"));

  const login = (password: string) =>
    fetch(`${ready.baseUrl}/authentication/v1/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "ann@acme.example", password }),
    });

  it("prints one line when it is ready, and serves its store", async () => {
    expect(ready).toEqual({ event: "ready", baseUrl: ready.baseUrl, extBaseUrl: ready.baseUrl });
    expect(ready.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${ready.baseUrl}/health`)).status).toBe(200);
  });

  verifies("AUTH-01");
  it("accepts a password from standard input without the final newline", async () => {
    expect((await login(PASSWORD)).status).toBe(200);
    expect((await login(PASSWORD.trim())).status).toBe(401);
  });

  verifies("KEY-05");
  it("applies changes by admin commands to the next request", async () => {
    const { accessToken } = (await (await login(PASSWORD)).json()) as { accessToken: string };
    const list = () =>
      fetch(`${ready.baseUrl}/dispute/v1/tenants/acme/disputes`, {
        headers: { "x-platform-auth": accessToken },
      });
    expect((await list()).status).toBe(200);
    const who = ["--tenant", "acme", "--email", "ann@acme.example"];
    await result(["admin", "user", "update", ...who, "--status", "Inactive"]);
    expect((await list()).status).not.toBe(200);
    await result(["admin", "user", "update", ...who, "--status", "Active"]);
  });

  verifies("DR-13");
  it("reads the body of a GET over a real socket", async () => {
    const { accessToken } = (await (await login(PASSWORD)).json()) as { accessToken: string };
    const { request } = await import("undici");
    const path = "/dispute/v1/tenants/acme/disputes/by-dispute-ids";
    const ask = (body: string | null) =>
      request(ready.baseUrl + path, {
        method: "GET",
        headers: { "x-platform-auth": accessToken, "content-type": "application/json" },
        body,
      });
    const good = await ask('{"disputeIds":["x"]}');
    expect([good.statusCode, await good.body.json()]).toEqual([200, []]);
    const none = await ask(null);
    await none.body.dump();
    expect(none.statusCode).toBe(400);
  });

  verifies("C-17");
  it.each(["SIGTERM", "SIGINT"] as const)("ends with 0 on %s", async (signal) => {
    const other = startCli(["platform", "--port", "0"], env);
    await whenReady(other);
    const { status, ms } = await other.end(signal);
    expect(status).toBe(0);
    expect(ms).toBeLessThan(BEFORE_THE_CUT_MS);
    expect(other.texts.stdout.trimEnd().split("\n")).toHaveLength(1);
  });

  it("names a taken port and ends with 1", async () => {
    const { status, stdout, stderr } = await run([
      "platform",
      "--port",
      new URL(ready.baseUrl).port,
    ]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("EADDRINUSE");
    expect(stderr).toContain("--port");
  });
});

describe("secrets", () => {
  const VALUE = "rcvg_canary-secret";
  let name: string;
  beforeAll(async () => {
    const vault = createVault({
      folder: join(folder, "secrets"),
      masterKey: createMasterKeyReader({ secretKey: undefined, dataFolder: folder }),
    });
    name = await vault.put({ kind: "api-key", keyId: "k1", tenantId: "acme", value: VALUE });
  });

  it("are listed by name, one per line, without their value", async () => {
    const { stdout } = await run(["secrets", "list"]);
    expect(JSON.parse(stdout)).toMatchObject({ name, kind: "api-key", keyId: "k1" });
    expect(stdout).not.toContain("canary");
  });

  verifies("D-MCP-4");
  it("are not written to a pipe, but to a private file", async () => {
    const piped = await run(["secrets", "show", name]);
    expect(piped.status).toBe(1);
    expect(piped.stdout + piped.stderr).not.toContain("canary");
    expect(piped.stderr).toContain("--out");
    const out = join(folder, "shown");
    expect(await result(["secrets", "show", name, "--out", out])).toEqual({ name, out });
    expect(await readFile(out, "utf8")).toBe(`${VALUE}\n`);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
  });

  it("are removed", async () => {
    expect(await result(["secrets", "remove", name])).toEqual({ name, removed: true });
    expect((await run(["secrets", "remove", name])).status).toBe(1);
    expect((await run(["secrets", "show", "../secret.key"])).status).toBe(1);
  });
});

it("leaves nothing in the data folder that others can read, and no password in clear text", async () => {
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    const about = await stat(path);
    expect(about.mode & 0o077).toBe(0);
    if (about.isFile()) expect(await readFile(path, "latin1")).not.toContain("canary p%ssword");
  }
});
