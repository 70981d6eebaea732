import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ready, runAdmin, runCli, type Running, startCli, whenReady } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { startIssuer } from "../support/issuer.ts";
import { listen } from "../support/listen.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary-password";

const folder = useFolder();
let platform: Running;
let ready: Ready;
let keys: Record<string, string>;

const admin = (line: string, input = "") => {
  const args = line.split(" ").map((part) => part.replaceAll("_", " "));
  return runAdmin(args, { RECEIVABLES_DATA: folder }, input);
};

beforeAll(async () => {
  await admin("tenant create --name Acme acme");
  for (const role of ["Administrator", "Viewer"]) {
    const person = `--email ${role}@acme.example --first-name A --last-name B --role ${role}`;
    await admin(`user create --tenant acme ${person}`, PASSWORD);
  }
  const all = await admin("key issue --tenant acme --name all");
  const narrow = await admin("key issue --tenant acme --name narrow --scopes audit:read");
  keys = { all: String(all["apiKey"]), narrow: String(narrow["apiKey"]) };
  platform = startCli(["platform", "--port", "0"], { RECEIVABLES_DATA: folder });
  ready = await whenReady(platform);
});
afterAll(() => platform.end("SIGTERM"));

type Found = { check: string; ok: boolean; found: string; hint?: string };
type Diagnosis = {
  ok: boolean;
  checks: Found[];
  refusedTools: { tool: string; permission: string }[];
};

const doctor = async (settings: Record<string, string>) => {
  const { status, stdout, stderr } = await runCli(["doctor"], {
    RECEIVABLES_DATA: join(folder, "client"),
    RECEIVABLES_BASE_URL: ready.baseUrl,
    RECEIVABLES_TENANT_ID: "acme",
    RECEIVABLES_EMAIL: "Administrator@acme.example",
    RECEIVABLES_PASSWORD: PASSWORD,
    RECEIVABLES_EXT_API_KEY: keys["all"] ?? "",
    ...settings,
  });
  expect(stdout + stderr).not.toMatch(/canary|rcv[gx]_/);
  const diagnosis = JSON.parse(stdout) as Diagnosis;
  const faults = diagnosis.checks.filter(({ ok }) => !ok);
  expect(faults.length > 0).toBe(status === 1);
  for (const { hint } of faults) expect(hint).toMatch(/\w{3}/);
  return { ...diagnosis, status, stderr, faults: faults.map(({ check }) => check), all: faults };
};

describe("doctor", () => {
  it("checks every step in order, and names the user of the credential", async () => {
    const { status, checks, refusedTools, stderr } = await doctor({});
    expect([status, refusedTools]).toEqual([0, []]);
    expect(checks.map(({ check }) => check)).toEqual([
      "settings",
      "data_folder",
      "profile",
      "proxy",
      "authorities",
      "gateway",
      "clock",
      "credential",
      "tenant",
      "permissions",
      "export_key",
    ]);
    expect(stderr).toContain("Administrator@acme.example");
  });

  verifies("OP-06");
  it("names an unknown setting, and the nearest known one", async () => {
    const { status, faults, all } = await doctor({ RECEIVABLES_TOOLSET: "disputes" });
    expect([status, faults]).toEqual([1, ["settings"]]);
    expect(all[0]?.hint).toContain("RECEIVABLES_TOOLSETS");
  });

  verifies("OP-06");
  it("needs no credential where people sign in with their own accounts", async () => {
    const none = { RECEIVABLES_EMAIL: "", RECEIVABLES_PASSWORD: "", RECEIVABLES_EXT_API_KEY: "" };
    const signIn = await doctor({ ...none, RECEIVABLES_HTTP_AUTH: "builtin" });
    expect([signIn.status, signIn.faults]).toEqual([0, []]);
    const stdio = await doctor(none);
    expect([stdio.status, stdio.faults]).toEqual([1, ["credential"]]);
  });

  it("changes nothing to find the rights", async () => {
    const ask = async (path: string) => {
      const login = await fetch(`${ready.baseUrl}/authentication/v1/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: "Administrator@acme.example", password: PASSWORD }),
      });
      const { accessToken } = (await login.json()) as { accessToken: string };
      const read = await fetch(`${ready.baseUrl}/dispute/v1/tenants/acme${path}`, {
        headers: { "x-platform-auth": accessToken },
      });
      return read.json();
    };
    await doctor({});
    for (const noun of ["/disputes", "/reasons", "/categories", "/departments", "/assignees"]) {
      expect(await ask(noun)).toEqual([]);
    }
  });

  verifies("OP-06");
  it("has a tool name of its own in each of its requests, and leaves no session", async () => {
    const before = platform.texts.stderr.length;
    await doctor({});
    const lines = platform.texts.stderr
      .slice(before)
      .split("\n")
      .filter((line) => line.includes('"http.request"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ route }) => route)).toContain("/authentication/v1/logout");
    expect(lines.map(({ tool }) => tool)).toEqual(lines.map(() => "doctor"));
    expect(existsSync(join(folder, "client"))).toBe(false);
  });

  verifies("OP-06", "IN-60");
  it("takes a missing export key as optional, and says how to add one", async () => {
    const { status, checks } = await doctor({ RECEIVABLES_EXT_API_KEY: "" });
    expect([status, checks.at(-1)]).toMatchObject([
      0,
      { check: "export_key", ok: true, found: expect.stringContaining("optional") },
    ]);
    expect(checks.at(-1)?.hint).toContain("set RECEIVABLES_EXT_API_KEY_FILE");
  });

  verifies("OP-06");
  it("prints JSON alone for machines", async () => {
    const { stdout, stderr } = await runCli(["doctor", "--json"], {
      RECEIVABLES_DATA: join(folder, "client"),
    });
    expect([stderr, JSON.parse(stdout)]).toEqual(["", expect.objectContaining({ ok: true })]);
  });

  verifies("C-83");
  it("names the tools that the credential may not use, with the missing right", async () => {
    const { status, faults, refusedTools, checks } = await doctor({
      RECEIVABLES_EMAIL: "Viewer@acme.example",
      RECEIVABLES_EXT_API_KEY: keys["narrow"] ?? "",
    });
    // Few people have every right.
    expect([status, faults]).toEqual([0, []]);
    const found = checks.find(({ check }) => check === "permissions")?.found;
    expect(found).toMatch(/^Dispute Management : READ.*; not Dispute Management : CREATE/);
    const refused = new Map(refusedTools.map(({ tool, permission }) => [tool, permission]));
    expect(refused.get("disputes_delete")).toBe("Dispute Management : DELETE");
    expect(refused.get("documents_close")).toBe("ingest:write");
    expect(refused.has("disputes_list")).toBe(false);
    expect(refused.has("audit_logs_list")).toBe(false);
  });

  it.each([
    ["a password that is wrong", { RECEIVABLES_PASSWORD: "canary-other" }, ["credential"]],
    ["a tenant that is not theirs", { RECEIVABLES_TENANT_ID: "other" }, ["tenant"]],
    ["an export key that is none", { RECEIVABLES_EXT_API_KEY: "rcvx_nothing" }, ["export_key"]],
    ["a setting that is none", { RECEIVABLES_TOOLSET: "all" }, ["settings"]],
    ["an address where nobody is", { RECEIVABLES_BASE_URL: "http://127.0.0.1:9" }, ["gateway"]],
    [
      "another export service that is away",
      { RECEIVABLES_EXT_BASE_URL: "http://127.0.0.1:9" },
      ["export_service"],
    ],
  ])("finds %s", async (_what, settings, expected) => {
    expect((await doctor(settings as unknown as Record<string, string>)).faults).toEqual(expected);
  });

  it("reports a folder that cannot be written", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const { faults } = await doctor({ RECEIVABLES_DATA: join(file, "data") });
    expect(faults).toEqual(["data_folder"]);
  });

  it("reports a wrong clock", async () => {
    const late = createServer((_request, response) => {
      response.setHeader("date", new Date(Date.now() - 3_600_000).toUTCString());
      response.statusCode = 401;
      response.end();
    });
    const port = await listen(late);
    const { all } = await doctor({ RECEIVABLES_BASE_URL: `http://127.0.0.1:${port}` });
    late.close();
    expect(all[0]).toMatchObject({ check: "clock", found: expect.stringContaining("behind") });
  });

  verifies("C-81");
  it("reports an untrusted certificate, and accepts it once its authority is configured", async () => {
    const { cert, private: key } = await generate([{ name: "commonName", value: "127.0.0.1" }], {
      extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
    });
    const strange = createTlsServer({ cert, key }, (_request, response) => {
      response.statusCode = 401;
      response.end();
    });
    const port = await listen(strange);
    const settings = { RECEIVABLES_BASE_URL: `https://127.0.0.1:${port}` };
    const refused = await doctor(settings);
    expect(refused.all[0]).toMatchObject({
      check: "gateway",
      found: expect.stringContaining("CERT"),
      hint: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
    const authority = join(folder, "authority.pem");
    await writeFile(authority, cert);
    const trusted = await doctor({ ...settings, NODE_EXTRA_CA_CERTS: authority });
    expect(trusted.checks).toContainEqual(
      expect.objectContaining({ check: "gateway", found: expect.stringContaining("over TLS") }),
    );
    strange.close();
  });

  it("reports a missing choice of tenant with the possible ones", async () => {
    const { faults, all } = await doctor({ RECEIVABLES_TENANT_ID: "" });
    expect([faults, all[0]?.hint]).toEqual([["tenant"], expect.stringContaining("acme")]);
  });

  it("reports a missing profile", async () => {
    const { faults } = await doctor({ RECEIVABLES_PROFILE: "nobodys" });
    expect(faults).toEqual(["profile"]);
  });

  verifies("C-83");
  it("reports faults of the file of tokens, without the tokens", async () => {
    const path = join(folder, "tokens");
    const settings = { RECEIVABLES_HTTP_TOKENS_FILE: path };
    const good = `${"canary-token-".padEnd(40, "x")} default read\n`;
    await writeFile(path, good, { mode: 0o600 });
    const fine = await doctor(settings);
    expect(fine.checks.at(-1)).toEqual({
      check: "http_tokens",
      ok: true,
      found: `${path} has 1 valid tokens`,
    });
    await writeFile(path, `${good}canary-short default read\n`);
    const { faults, all } = await doctor(settings);
    expect([faults, all[0]?.found]).toEqual([["http_tokens"], expect.stringContaining("line 2")]);
  });

  verifies("C-83");
  it("checks the issuer of tokens and its subjects", async () => {
    const issuer = await startIssuer();
    const profiles = join(folder, "profiles.json");
    await writeFile(profiles, '{"ann": {"subjects": ["subject-1"]}}', { mode: 0o600 });
    const settings = {
      RECEIVABLES_OAUTH_ISSUER: issuer.issuer,
      RECEIVABLES_PROFILES_FILE: profiles,
    };
    const fine = await doctor(settings);
    expect(fine.faults).toEqual([]);
    expect(fine.checks.slice(-2)).toEqual([
      expect.objectContaining({
        check: "issuer",
        found: expect.stringContaining("1 signing keys"),
      }),
      expect.objectContaining({ check: "issuer_subjects", ok: true }),
    ]);
    await writeFile(profiles, "{}");
    expect((await doctor(settings)).faults).toEqual(["issuer_subjects"]);
    issuer.down(true);
    expect((await doctor(settings)).faults).toEqual(["issuer", "issuer_subjects"]);
    await issuer.close();
  });
});
