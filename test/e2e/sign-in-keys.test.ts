import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli, type Running, startCli, whenReady, runAdmin } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { connectNew } from "../support/oauth-host.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "correct horse battery staple";
const ROLES = { ann: "AR Manager", bob: "Agent" } as const;
type Name = keyof typeof ROLES;

const home = useFolder();
const keysFile = join(home, "keys.json");
let env: Record<string, string>;
let key: string;
let server: Running;
let mcpUrl: string;

const admin = (args: string[], input = "") => runAdmin(args, env, input);

const emailOf = (name: Name): string => `${name}@acme.example`;
const userArgs = (name: Name): string[] => ["--tenant", "acme", "--email", emailOf(name)];

/** Replaces the file at once, as operators do. */
const writeKeys = async (keys: object, mode = 0o600): Promise<void> => {
  const text = JSON.stringify(keys);
  await writeFile(`${keysFile}.new`, text, { mode });
  await rename(`${keysFile}.new`, keysFile);
};

beforeAll(async () => {
  env = {
    RECEIVABLES_DATA: join(home, "data"),
    RECEIVABLES_HTTP_AUTH: "builtin",
    RECEIVABLES_OAUTH_REGISTRATION: "true",
    RECEIVABLES_EXT_API_KEYS_FILE: keysFile,
  };
  await admin(["tenant", "create", "acme", "--name", "Acme"]);
  for (const name of ["ann", "bob"] as const) {
    const person = ["--first-name", name, "--last-name", "Lee", "--role", ROLES[name]];
    await admin(["user", "create", ...userArgs(name), ...person], PASSWORD);
  }
  key = String((await admin(["key", "issue", "--tenant", "acme", "--name", "people"]))["apiKey"]);
  await writeKeys({ acme: { apiKey: key, roles: ["AR Manager"] } });
  server = startCli(["http", "--port", "0"], env);
  ({ mcpUrl = "" } = await whenReady(server));
});
afterAll(() => server.end("SIGTERM"));

const connect = async (name: Name, mode: "auto" | "legacy"): Promise<Client> =>
  (await connectNew(mcpUrl, { email: emailOf(name), password: PASSWORD }, { mode })).client;

const callQuery = async (client: Client) => {
  const { isError, content } = await client.callTool({
    name: "payments_query",
    arguments: { source: "cashapp" },
  });
  return isError === true ? JSON.stringify(content) : "answered";
};

/** Whether the caller is offered the tool, told of it, and answered. */
const tryPayments = async (client: Client) => {
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain("disputes_list");
  const prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
  return {
    listed: names.includes("payments_query"),
    prompted: prompts.includes("ask-payments"),
    told: client.getInstructions()?.includes("payments_summarize"),
    answer: await callQuery(client),
  };
};

const OFFERED = { listed: true, prompted: true, told: true, answer: "answered" };
const HIDDEN = {
  listed: false,
  prompted: false,
  told: false,
  answer: expect.stringContaining("RECEIVABLES_EXT_API_KEYS_FILE names their role"),
};

describe("people of the built-in sign-in with an export key of their tenant", () => {
  verifies("IN-60");
  it("are offered its tools in both protocol eras if their role is named", async () => {
    for (const mode of ["auto", "legacy"] as const) {
      const [ann, bob] = await Promise.all([connect("ann", mode), connect("bob", mode)]);
      expect(await Promise.all([tryPayments(ann), tryPayments(bob)])).toEqual([OFFERED, HIDDEN]);
      await Promise.all([ann.close(), bob.close()]);
    }
  });

  verifies("IN-60");
  it("gain and lose it with the file and with their role, without another sign-in", async () => {
    const bob = await connect("bob", "legacy");
    const soon = async (expected: unknown): Promise<void> => {
      await expect.poll(() => callQuery(bob), { interval: 200, timeout: 10_000 }).toEqual(expected);
    };
    await soon(HIDDEN.answer);
    await writeKeys({ acme: { apiKey: key, roles: ["AR Manager", "Agent"] } });
    await soon("answered");
    await writeKeys({ acme: { apiKey: key, roles: ["AR Manager"] } }, 0o644);
    await soon(HIDDEN.answer);
    await writeKeys({ acme: { apiKey: key, roles: ["AR Manager"] } });
    await admin(["user", "update", ...userArgs("bob"), "--role", "AR Manager"]);
    await soon("answered");
    await admin(["user", "update", ...userArgs("bob"), "--role", ROLES.bob]);
    await soon(HIDDEN.answer);
    await bob.close();
    expect(server.texts.stderr).toContain("chmod 600");
  });

  it("leave no trace of it in answers, logs and the audit log", async () => {
    const ann = await connect("ann", "auto");
    await callQuery(ann);
    const { structuredContent, content } = await ann.callTool({
      name: "audit_logs_list",
      arguments: {},
    });
    const { data } = structuredContent as {
      data: { action: string; metadata: { mcpTool: string } }[];
    };
    expect(data.map(({ metadata }) => metadata.mcpTool)).toContain("payments_query");
    // The server looks roles up for itself, which the audit log of the tenant does not show.
    const reads = data.filter(({ action }) => action === "profile.read");
    expect(new Set(reads.map(({ metadata }) => metadata.mcpTool))).toEqual(new Set(["sign_in"]));
    expect(JSON.stringify(content) + server.texts.stderr).not.toContain(key);
    await ann.close();
  });
});

describe("the file of export keys", () => {
  const doctor = async (keys: object, mode = 0o600) => {
    const path = join(home, "checked.json");
    await rm(path, { force: true });
    await writeFile(path, JSON.stringify(keys), { mode });
    const { stdout } = await runCli(["doctor", "--json"], {
      ...env,
      RECEIVABLES_EXT_API_KEYS_FILE: path,
    });
    type Check = { check: string; ok: boolean; found: string };
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(stdout).not.toContain(key);
    const found = checks.find(({ check }) => check === "export_keys");
    return [found?.ok, found?.found];
  };

  verifies("OP-06");
  it("is checked by doctor with its tenants, roles and keys", async () => {
    const roles = ["AR Manager"];
    expect(await doctor({ acme: { apiKey: key, roles } })).toEqual([
      true,
      expect.stringContaining("keys of 1 tenants"),
    ]);
    expect(
      await doctor({
        acme: { apiKey: "rcvx_another", roles: ["Cashier"] },
        bolt: { apiKey: key, roles },
      }),
    ).toEqual([
      false,
      expect.stringMatching(
        /acme is not a key of that tenant; acme has no role Cashier.*no tenant bolt/,
      ),
    ]);
    expect(await doctor({ acme: { apiKey: key, roles } }, 0o644)).toEqual([
      false,
      expect.stringContaining("chmod 600"),
    ]);
    expect(await doctor({ acme: { roles } })).toEqual([
      false,
      expect.stringContaining("either apiKey or apiKeyFile"),
    ]);
  });

  it("stops the start if it is wrong", async () => {
    await writeFile(join(home, "wrong.json"), "{", { mode: 0o600 });
    const wrong = { RECEIVABLES_EXT_API_KEYS_FILE: join(home, "wrong.json") };
    const { status, stderr } = await runCli(["http", "--port", "0"], { ...env, ...wrong });
    expect([status, stderr]).toEqual([1, expect.stringContaining("it is not JSON")]);
  });
});
