import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askFrom } from "../support/addresses.ts";
import { type Ready, runCli, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { recorder } from "../support/recorder.ts";
import type { WildServer } from "../support/wild-server.ts";
import { verifies } from "../support/verifies.ts";

const tokenOf = (name: string): string => `canary-token-of-${name}-${"x".repeat(30)}`;
const PASSWORD = "canary-password-of-the-platform";

/** Ann uses the platform inside the server, Bob and Cid use a remote one. */
const PEOPLE = {
  ann: { tenant: "acme", role: "Administrator", scopes: "read,write,admin" },
  bob: { tenant: "bolt", role: "Viewer", scopes: "read,write,admin" },
  cid: { tenant: "bolt", role: "Administrator", scopes: "read,write,admin" },
  dan: { tenant: "acme", role: "Administrator", scopes: "read" },
} as const;
type Name = keyof typeof PEOPLE;
const NAMES = Object.keys(PEOPLE) as Name[];

const folder = useFolder();
const env = { RECEIVABLES_DATA: join(folder, "data"), RECEIVABLES_LOG: "debug" };
let platform: Running;
let trace: WildServer;
let server: Running;
let ready: Ready;
let tokens: string;

const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
};

const mailOf = (name: Name): string => `${name}@${PEOPLE[name].tenant}.example`;

const settle = async (): Promise<void> => {
  const admin = (line: string, input = "") => runCli(["admin", ...line.split(" ")], env, input);
  for (const tenant of ["acme", "bolt"]) {
    await admin(`tenant create ${tenant} --name ${tenant}`);
  }
  for (const name of NAMES) {
    const { tenant, role } = PEOPLE[name];
    const user = `--tenant ${tenant} --email ${mailOf(name)} --role ${role}`;
    const made = await admin(`user create ${user} --first-name A --last-name L`, PASSWORD);
    expect(made.status, made.stderr).toBe(0);
  }
};

beforeAll(async () => {
  await settle();
  platform = startCli(["platform", "--port", "0"], env);
  trace = await recorder((await whenReady(platform)).baseUrl);
  const profileOf = (name: Name) => {
    const { tenant } = PEOPLE[name];
    const remote = tenant === "bolt" ? { baseUrl: trace.url } : {};
    return { ...remote, tenantId: tenant, email: mailOf(name), password: PASSWORD };
  };
  const profiles = Object.fromEntries(NAMES.map((name) => [name, profileOf(name)]));
  tokens = await write(
    "tokens",
    NAMES.map((name) => `${tokenOf(name)} ${name} ${PEOPLE[name].scopes}\n`).join(""),
  );
  server = startCli(["http", "--port", "0"], {
    ...env,
    RECEIVABLES_HTTP_AUTH: "static",
    RECEIVABLES_HTTP_TOKENS_FILE: tokens,
    RECEIVABLES_PROFILES_FILE: await write("profiles.json", JSON.stringify(profiles)),
    // Values of the default profile, which no caller here has.
    RECEIVABLES_TENANT_ID: "elsewhere",
    RECEIVABLES_API_KEY: "canary-key-of-the-server",
  });
  ready = await whenReady(server);
});
afterAll(async () => {
  await server.end("SIGTERM");
  await trace.close();
  await platform.end("SIGTERM");
});

type Answer = { isError?: boolean; structuredContent?: Record<string, unknown>; content: unknown };

const as = async (name: Name, mode: "auto" | "legacy"): Promise<Client> => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${tokenOf(name)}` };
  const transport = new StreamableHTTPClientTransport(new URL(ready.mcpUrl ?? ""), {
    requestInit: { headers },
  });
  await client.connect(transport);
  return client;
};

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as Answer;

const codesIn = ({ structuredContent }: Answer): unknown[] =>
  ((structuredContent?.["items"] ?? []) as { code: string }[]).map(({ code }) => code);

describe.each([
  ["2026", "auto"],
  ["2025", "legacy"],
] as const)("several people on one server with hosts of %s", (era, mode) => {
  verifies("C-65");
  it("use their own tenants with their own rights at the same time", async () => {
    const [ann, bob, cid] = await Promise.all([as("ann", mode), as("bob", mode), as("cid", mode)]);
    const made = await Promise.all(
      [ann, bob, cid].map((client) =>
        call(client, "departments_create", { code: `D${era}`, description: "Made by each" }),
      ),
    );
    expect(made.map(({ isError }) => isError === true)).toEqual([false, true, false]);
    expect(JSON.stringify(made[1])).toContain("forbidden_permission");
    const mine = await call(ann, "departments_create", { code: `ANN${era}`, description: "Mine" });
    expect(mine.isError).not.toBe(true);
    const rounds = Array.from({ length: 15 }, (_, index) => [ann, bob, cid][index % 3] as Client);
    const lists = await Promise.all(rounds.map((client) => call(client, "departments_list")));
    for (const [index, list] of lists.entries()) {
      const codes = codesIn(list);
      expect(codes).toContain(`D${era}`);
      expect(codes.includes(`ANN${era}`)).toBe(index % 3 === 0);
    }
    await Promise.all([ann, bob, cid].map((client) => client.close()));
  });

  verifies("C-66");
  it("cannot use each other's confirmations, not even in one tenant", async () => {
    const [cid, bob, ann] = await Promise.all([as("cid", mode), as("bob", mode), as("ann", mode)]);
    await call(cid, "departments_create", { code: `Y${era}`, description: "To be deleted" });
    const gone = { departmentCode: `Y${era}` };
    const asked = (await call(cid, "departments_delete_by_code", gone)) as Answer & {
      _meta: { "receivables/confirmation": { confirmationToken: string } };
    };
    const { confirmationToken } = asked._meta["receivables/confirmation"];
    const others = await Promise.all(
      [bob, ann].map((client) =>
        call(client, "departments_delete_by_code", { ...gone, confirmationToken }),
      ),
    );
    for (const other of others) {
      expect(JSON.stringify(other.content)).toContain("confirmation_invalid");
    }
    const own = await call(cid, "departments_delete_by_code", { ...gone, confirmationToken });
    expect(own.structuredContent).toMatchObject({ deleted: true });
    await Promise.all([ann, bob, cid].map((client) => client.close()));
  });
});

const post = (token: string, body: object, headers: Record<string, string> = {}) =>
  fetch(ready.mcpUrl ?? "", {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });

const toolCall = (name: string, args: object = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args },
});

describe("a server with static tokens", () => {
  verifies("C-62");
  it("refuses a write with a read-only token, and names the scope", async () => {
    const response = await post(tokenOf("dan"), toolCall("disputes_create"));
    expect(response.status).toBe(403);
    const challenge = response.headers.get("www-authenticate");
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="write"');
    expect((await post(tokenOf("dan"), toolCall("departments_list"))).status).toBe(200);
  });

  verifies("C-61");
  it("refuses an unknown token, and refers to its metadata", async () => {
    const response = await post(tokenOf("eve"), toolCall("departments_list"));
    expect(response.status).toBe(401);
    const at = /resource_metadata="([^"]+)"/.exec(response.headers.get("www-authenticate") ?? "");
    const metadata = (await (await fetch(at?.[1] ?? "")).json()) as Record<string, unknown>;
    expect(metadata).toMatchObject({ resource: ready.mcpUrl, scopes_supported: ["read"] });
  });

  verifies("C-89");
  it("limits invalid tokens by the address of the client, and still accepts valid ones", async () => {
    const from = "127.0.0.50";
    const ask = async (token: string, at = from) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await askFrom(ready.mcpUrl ?? "", { method: "DELETE", from: at, headers })).status;
    };
    const statuses = await Promise.all(Array.from({ length: 70 }, (_, at) => ask(`wrong-${at}`)));
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect([401, 403, 429]).not.toContain(await ask(tokenOf("ann")));
    expect(await ask("wrong", "127.0.0.51")).toBe(401);
  });

  verifies("C-65");
  it("ends the session of a person whose token is removed from the file", async () => {
    const whole = await readFile(tokens, "utf8");
    const dan = await as("dan", "legacy");
    expect((await call(dan, "departments_list")).isError).not.toBe(true);
    await writeFile(tokens, whole.replace(/^.*dan.*\n/m, ""));
    await chmod(tokens, 0o600);
    await expect(call(dan, "departments_list")).rejects.toThrow();
    await writeFile(tokens, whole);
    await dan.close();
  });

  verifies("C-60");
  it("sends no caller's token to the platform or a log, and uses each caller's own credential", async () => {
    const seen = JSON.stringify(trace.seen);
    expect(trace.seen.length).toBeGreaterThan(10);
    expect(seen).toContain(mailOf("bob"));
    expect(seen).not.toMatch(/canary-token|canary-key/);
    expect(seen).not.toContain(mailOf("ann"));
    expect(trace.seen.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    const log = await readFile(join(folder, "data", "audit.ndjson"), "utf8");
    const written = server.texts.stdout + server.texts.stderr + log;
    expect(written).not.toMatch(/canary-token|canary-key|canary-password/);
    const callers = log
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { caller: string; principal: string });
    const ids = new Map(callers.map(({ caller, principal }) => [principal, caller]));
    expect(new Set(ids.values()).size).toBe(4);
  });

  verifies("C-60");
  it("uses a profile's new credential soon, within a session", async () => {
    const path = join(folder, "profiles.json");
    const whole = await readFile(path, "utf8");
    const dan = await as("dan", "legacy");
    const who = async () => (await call(dan, "users_profile")).structuredContent?.["email"];
    expect(await who()).toBe(mailOf("dan"));
    // As the renewed password of another person would: it is theirs that counts from now on.
    const changed = JSON.parse(whole) as Record<Name, { email: string }>;
    changed.dan.email = mailOf("ann");
    await write("profiles.new", JSON.stringify(changed));
    await rename(join(folder, "profiles.new"), path);
    await expect.poll(who, { interval: 500 }).toBe(mailOf("ann"));
    await writeFile(path, whole);
    await expect.poll(who, { interval: 500 }).toBe(mailOf("dan"));
    await dan.close();
  });
});
