import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Ready, runCli, type Running, startCli, whenReady } from "../support/cli.ts";

const PASSWORD = "canary pass wörd";
const EMAIL = "ann@acme.example";
const CLI = fileURLToPath(new URL("../../src/bin/cli.ts", import.meta.url));

let folder: string;
let mine: string;
let platform: Running;
let ready: Ready;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "login-"));
  const env = { RECEIVABLES_DATA: join(folder, "platform") };
  const admin = async (line: string, input = "") => {
    const { status, stderr } = await runCli(["admin", ...line.split(" ")], env, input);
    expect([stderr, status]).toEqual(["", 0]);
  };
  for (const tenant of ["acme", "other"]) {
    await admin(`tenant create ${tenant} --name ${tenant}`);
  }
  const person = "--first-name Ann --last-name Lee --role Viewer";
  await admin(`user create --tenant acme --email ${EMAIL} ${person}`, PASSWORD);
  await admin(`user create --tenant acme --email both@acme.example ${person}`, PASSWORD);
  await admin(`user create --tenant other --email both@acme.example ${person}`);
  platform = startCli(["platform", "--port", "0"], env);
  ready = await whenReady(platform);
});
afterAll(async () => {
  await platform.end("SIGTERM");
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  mine = await mkdtemp(join(folder, "mine-"));
});

const run = async (line: string[], input = "", settings: Record<string, string> = {}) => {
  const ended = await runCli(line, { RECEIVABLES_DATA: mine, ...settings }, input);
  expect(ended.stdout + ended.stderr).not.toMatch(/canary|rcv[gx]_/);
  return ended;
};

const printed = async (line: string[], input = "", settings: Record<string, string> = {}) => {
  const { status, stdout, stderr } = await run(line, input, settings);
  expect([stderr, status]).toEqual(["", 0]);
  return stdout
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((text) => JSON.parse(text) as Record<string, unknown>);
};

const logIn = (more: string[] = [], email = EMAIL) =>
  run(["login", "--base-url", ready.baseUrl, "--email", email, ...more], `${PASSWORD}\n`);

const asked = async (settings: Record<string, string> = {}) => {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [CLI],
      env: { PATH: process.env["PATH"] ?? "", RECEIVABLES_DATA: mine, ...settings },
      stderr: "ignore",
    }),
  );
  const profile = await client.callTool({ name: "users_profile", arguments: {} });
  await client.close();
  return profile;
};

describe("login", () => {
  it("keeps an API key instead of the password, and the server works with it", async () => {
    const { status, stdout } = await logIn();
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: "default",
      baseUrl: ready.baseUrl,
      tenantId: "acme",
      email: EMAIL,
      credential: "api_key",
      keyId: expect.stringMatching(/^[\w-]{36}$/),
    });
    const { structuredContent } = await asked();
    expect(structuredContent).toMatchObject({ email: EMAIL });
    const [file = ""] = await readdir(join(mine, "profiles"));
    const path = join(mine, "profiles", file);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).not.toMatch(/canary|rcvg|acme/);
  });

  it("lists profiles without secrets, those of a file too, and the file's first", async () => {
    await logIn(["--profile", "work"]);
    const file = join(mine, "profiles.json");
    await writeFile(join(mine, "pass"), `${PASSWORD}\n`, { mode: 0o600 });
    const entry = { baseUrl: ready.baseUrl, email: EMAIL, passwordFile: join(mine, "pass") };
    await writeFile(file, JSON.stringify({ home: { ...entry, tenantId: "acme" } }), {
      mode: 0o600,
    });
    const settings = { RECEIVABLES_PROFILES_FILE: file };
    expect(await printed(["profiles"], "", settings)).toMatchObject([
      { profile: "home", credential: "password", from: "file" },
      { profile: "work", credential: "api_key", from: "login" },
    ]);
    const { structuredContent } = await asked({ ...settings, RECEIVABLES_PROFILE: "home" });
    expect(structuredContent).toMatchObject({ email: EMAIL });
  });

  it("asks which tenant when there are several, and refuses one that is not theirs", async () => {
    const several = await logIn([], "both@acme.example");
    expect([several.status, several.stderr]).toEqual([1, expect.stringContaining("acme, other")]);
    const strange = await logIn(["--tenant-id", "nobody"], "both@acme.example");
    expect([strange.status, strange.stderr]).toEqual([1, expect.stringContaining("no access")]);
    const chosen = await logIn(["--tenant-id", "other"], "both@acme.example");
    expect(JSON.parse(chosen.stdout)).toMatchObject({ tenantId: "other" });
  });

  it("keeps nothing when it is refused", async () => {
    const line = ["login", "--base-url", ready.baseUrl, "--email", EMAIL];
    const refused = await run(line, "wrong");
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/password/)]);
    expect((await run(line)).stderr).toContain("standard input");
    expect((await run(["login", "--email", EMAIL], PASSWORD)).stderr).toContain("--base-url");
    expect(await printed(["profiles"])).toEqual([]);
  });

  it("makes a new key and revokes the old one when it is repeated", async () => {
    const [first, second] = [await logIn(), await logIn()].map(({ stdout }) => JSON.parse(stdout));
    expect(second.keyId).not.toBe(first.keyId);
    const doctor = await run(["doctor"]);
    expect(JSON.parse(doctor.stdout).checks).toContainEqual(
      expect.objectContaining({ check: "credential", ok: true }),
    );
  });

  it("hides what is typed at a terminal", async (context) => {
    if (spawnSync("script", ["--version"]).status !== 0) context.skip("there is no script(1)");
    const line = `${process.execPath} ${CLI} login --base-url ${ready.baseUrl} --email ${EMAIL}`;
    const child = spawn("script", ["-qefc", line, "/dev/null"], {
      env: { PATH: process.env["PATH"] ?? "", RECEIVABLES_DATA: mine, TERM: "dumb" },
    });
    let seen = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      seen += text;
    });
    await expect.poll(() => seen, { timeout: 30_000 }).toContain("Password");
    child.stdin.write(`${PASSWORD}\r`);
    const [status] = (await once(child, "close")) as [number];
    expect([status, seen]).toEqual([0, expect.stringContaining("api_key")]);
    expect(seen).not.toContain("canary");
  });
});

describe("logout", () => {
  it("revokes the key that was made, and forgets the profile", async () => {
    const { keyId } = JSON.parse((await logIn()).stdout) as { keyId: string };
    const line = ["logout"];
    expect((await run(line)).stderr).toContain("standard input");
    expect(await printed(line, PASSWORD)).toEqual([
      { profile: "default", removed: true, keyRevoked: true },
    ]);
    expect(keyId).toBeTruthy();
    expect(await printed(["profiles"])).toEqual([]);
    expect((await run(line)).stderr).toContain("no stored profile");
  });

  it("needs no password for a profile without a key", async () => {
    await logIn(["--keep-password"]);
    const { structuredContent } = await asked();
    expect(structuredContent).toMatchObject({ email: EMAIL });
    expect(await printed(["logout"])).toMatchObject([{ removed: true, keyRevoked: false }]);
  });
});

describe("a profile", () => {
  it("C-60 gives its credentials to no other platform than its own", async () => {
    await logIn(["--profile", "work"]);
    const elsewhere = { RECEIVABLES_PROFILE: "work", RECEIVABLES_BASE_URL: "http://127.0.0.1:9" };
    const refused = await run(["doctor"], "", elsewhere);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("work")]);
  });

  it("is refused when there is none by its name, and a file when others may read it", async () => {
    expect((await run(["doctor", "--profile", "none"])).stderr).toContain("no profile none");
    expect((await run(["doctor", "--profile", "../up"])).status).toBe(2);
    const file = join(mine, "profiles.json");
    await writeFile(file, "{}");
    await chmod(file, 0o644);
    const settings = { RECEIVABLES_PROFILES_FILE: file };
    expect((await run(["profiles"], "", settings)).stderr).toContain("chmod 600");
    await chmod(file, 0o600);
    for (const [text, fault] of [
      ["{", "not JSON"],
      ['{"a":{"baseUrl":"ftp://x"}}', "a.baseUrl"],
      ['{"a":{"baseUrl":"http://x","pasword":"canary"}}', "pasword"],
    ] as const) {
      await writeFile(file, text);
      expect((await run(["profiles"], "", settings)).stderr).toContain(fault);
    }
  });
});
