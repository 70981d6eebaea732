import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMissingKeychain } from "../../src/broker/keychain.ts";
import { createSealedProfiles } from "../../src/broker/profiles.ts";
import {
  CLI,
  connectStdio,
  type Ready,
  runAdmin,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary pass wörd";
const EMAIL = "ann@acme.example";

const folder = useFolder();
let mine: string;
let platform: Running;
let ready: Ready;

beforeAll(async () => {
  const env = { RECEIVABLES_DATA: join(folder, "platform") };
  const admin = (line: string, input = "") => runAdmin(line.split(" "), env, input);
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
afterAll(() => platform.end("SIGTERM"));
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

const expectNoProfile = async (): Promise<void> => {
  const { status, stdout, stderr } = await run(["profiles"]);
  expect([status, stdout]).toEqual([0, ""]);
  expect(stderr).toContain('"login" makes one');
};

const logIn = (more: string[] = [], email = EMAIL) =>
  run(["login", "--base-url", ready.baseUrl, "--email", email, ...more], `${PASSWORD}\n`);

const asked = async (settings: Record<string, string> = {}, name = "users_profile") => {
  const client = await connectStdio({ RECEIVABLES_DATA: mine, ...settings });
  return client.callTool({ name, arguments: {} }).finally(() => client.close());
};

describe("login", () => {
  it("stores an API key instead of the password, and the server works with it", async () => {
    const { status, stdout, stderr } = await logIn();
    expect(status).toBe(0);
    expect(stderr).toContain(`encrypted in ${join(mine, "profiles", "default.sealed")}`);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: "default",
      baseUrl: ready.baseUrl,
      tenantId: "acme",
      email: EMAIL,
      credential: "api_key",
      keptIn: "sealed_file",
      keyId: expect.stringMatching(/^[\w-]{36}$/),
    });
    const { structuredContent } = await asked();
    expect(structuredContent).toMatchObject({ email: EMAIL });
    const [file = ""] = await readdir(join(mine, "profiles"));
    const path = join(mine, "profiles", file);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).not.toMatch(/canary|rcvg|acme/);
  });

  it("with an API key says how to store a login, for tools that need one", async () => {
    await logIn();
    for (const name of ["api_keys_create", "auth_login"]) {
      const { isError, content } = await asked({}, name);
      const text = JSON.stringify(content);
      expect([name, isError]).toEqual([name, true]);
      expect(text).toContain("login --keep-password");
      expect(text).not.toMatch(/doctor|renew/);
    }
    expect((await logIn(["--keep-password"])).status).toBe(0);
    expect((await asked({}, "auth_login")).isError).not.toBe(true);
  });

  it("lists profiles without secrets, those of the file first", async () => {
    await logIn(["--profile", "work"]);
    const file = join(mine, "profiles.json");
    await writeFile(join(mine, "pass"), `${PASSWORD}\n`, { mode: 0o600 });
    const entry = { baseUrl: ready.baseUrl, email: EMAIL, passwordFile: join(mine, "pass") };
    await writeFile(file, JSON.stringify({ home: { ...entry, tenantId: "acme" } }), {
      mode: 0o600,
    });
    const settings = { RECEIVABLES_PROFILES_FILE: file };
    expect(await printed(["profiles"], "", settings)).toMatchObject([
      { profile: "home", credential: "password", from: "file", keptIn: "profiles_file" },
      { profile: "work", credential: "api_key", from: "login", keptIn: "sealed_file" },
    ]);
    const { structuredContent } = await asked({ ...settings, RECEIVABLES_PROFILE: "home" });
    expect(structuredContent).toMatchObject({ email: EMAIL });
  });

  it("asks for the tenant if there are several, and refuses another one", async () => {
    const several = await logIn([], "both@acme.example");
    expect([several.status, several.stderr]).toEqual([1, expect.stringContaining("acme, other")]);
    const strange = await logIn(["--tenant-id", "nobody"], "both@acme.example");
    expect([strange.status, strange.stderr]).toEqual([1, expect.stringContaining("no access")]);
    const chosen = await logIn(["--tenant-id", "other"], "both@acme.example");
    expect(JSON.parse(chosen.stdout)).toMatchObject({ tenantId: "other" });
  });

  it("stores nothing after a refusal", async () => {
    const line = ["login", "--base-url", ready.baseUrl, "--email", EMAIL];
    const refused = await run(line, "wrong");
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/password/)]);
    expect((await run(line)).stderr).toContain("standard input");
    expect((await run(["login", "--email", EMAIL], PASSWORD)).stderr).toContain("--base-url");
    await expectNoProfile();
  });

  it("creates a new key and revokes the old one when it is repeated", async () => {
    const made: { keyId: string; key: string }[] = [];
    for (let times = 0; times < 2; times++) {
      // One after the other: the second key replaces the first.
      const { keyId } = JSON.parse((await logIn()).stdout) as { keyId: string };
      made.push({ keyId, key: await keptKey() });
    }
    const [first, second] = made;
    expect(second?.keyId).not.toBe(first?.keyId);
    expect(await Promise.all(made.map(({ key }) => opens(key)))).toEqual([401, 200]);
  });

  it("reports a key that it leaves behind at another platform", async () => {
    const elsewhere = startCli(["platform", "--port", "0"], {
      RECEIVABLES_DATA: join(folder, "platform"),
    });
    const { baseUrl } = await whenReady(elsewhere);
    const { keyId } = JSON.parse((await logIn()).stdout) as { keyId: string };
    const moved = await run(["login", "--base-url", baseUrl, "--email", EMAIL], PASSWORD);
    expect(moved.stderr).toContain(`key ${keyId} that the profile had at ${ready.baseUrl}`);
    await elsewhere.end("SIGTERM");
  });

  it("revokes the new key if it cannot be stored", async () => {
    const before = await keyCount();
    await writeFile(join(mine, "profiles"), "a file where the folder should be");
    const { status, stdout, stderr } = await logIn();
    expect([status, stdout, stderr]).toEqual([1, "", expect.stringContaining("EEXIST")]);
    expect(await keyCount()).toBe(before);
  });

  verifies("OP-41");
  it("does not replace a missing master key that a store in the folder depends on", async () => {
    await printed(["admin", "tenant", "create", "acme", "--name", "Acme"]);
    await rm(join(mine, "secret.key"));
    const before = await keyCount();
    const { status, stderr } = await logIn();
    expect([status, stderr]).toEqual([1, expect.stringContaining("The master key is missing")]);
    expect(await readdir(mine)).not.toContain("secret.key");
    expect(await keyCount()).toBe(before);
  });

  /** Answers questions at a terminal, and gives what stood on it in the end. */
  const atTerminal = async (more: string[], answers: [RegExp, string][]) => {
    const line = ["login", "--base-url", ready.baseUrl, "--email", EMAIL, ...more];
    const child = spawn(
      "script",
      ["-qefc", [process.execPath, CLI, ...line].join(" "), "/dev/null"],
      {
        env: {
          PATH: process.env["PATH"] ?? "",
          RECEIVABLES_DATA: mine,
          RECEIVABLES_KEYCHAIN: "off",
          TERM: "dumb",
        },
      },
    );
    let seen = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      seen += text;
    });
    const closed = once(child, "close");
    for (const [question, answer] of answers) {
      await expect.poll(() => seen, { timeout: 30_000 }).toMatch(question);
      child.stdin.write(answer);
    }
    const [status] = (await closed) as [number];
    expect(seen).not.toContain("canary");
    return { status, seen };
  };
  const noTerminal = spawnSync("script", ["--version"]).status !== 0;
  const TYPED: [RegExp, string] = [/Password/, `${PASSWORD}\r`];

  it.skipIf(noTerminal)("hides the typed password, and offers to store a key instead", async () => {
    const { status, seen } = await atTerminal([], [TYPED, [/Which credential/, "\r"]]);
    expect([status, seen]).toEqual([0, expect.stringContaining('"credential":"api_key"')]);
  });

  it.skipIf(noTerminal)("lets the person choose the tenant, and store the password", async () => {
    const down = "\u001B[B\r";
    const { status, seen } = await atTerminal(
      ["--email", "both@acme.example"],
      [TYPED, [/Tenant/, down], [/Which credential/, down]],
    );
    expect(status).toBe(0);
    expect(seen).toMatch(/"tenantId":"other".*"credential":"password"/);
  });
});

/** The key that is kept for the profile, as only the program itself reads it. */
const keptKey = async (): Promise<string> => {
  const masterKey = async () =>
    Buffer.from((await readFile(join(mine, "secret.key"), "utf8")).trim());
  const profiles = createSealedProfiles({
    folder: join(mine, "profiles"),
    masterKey,
    keychain: createMissingKeychain("not here"),
  });
  return (await profiles.read("default"))?.credentials.apiKey?.reveal() ?? "";
};

const opens = async (key: string): Promise<number> => {
  const headers = { "x-platform-api-key": key };
  const answer = await fetch(`${ready.baseUrl}/user/v1/users/profile`, { headers });
  await answer.body?.cancel();
  return answer.status;
};

const keyCount = async (): Promise<number> => {
  const database = new DatabaseSync(join(folder, "platform", "receivables.db"), { readOnly: true });
  const { count } = database.prepare("SELECT count(*) AS count FROM api_keys").get() as {
    count: number;
  };
  database.close();
  return count;
};

describe("logout", () => {
  it("revokes the created key, and removes the profile", async () => {
    await logIn();
    const key = await keptKey();
    expect(await opens(key)).toBe(200);
    const line = ["logout"];
    expect(await printed(line)).toEqual([{ profile: "default", removed: true, keyRevoked: true }]);
    expect(await opens(key)).toBe(401);
    await expectNoProfile();
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
  verifies("C-60");
  it("sends its credentials to no other platform", async () => {
    await logIn(["--profile", "work"]);
    const elsewhere = { RECEIVABLES_PROFILE: "work", RECEIVABLES_BASE_URL: "http://127.0.0.1:9" };
    const refused = await run(["doctor"], "", elsewhere);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("work")]);
  });

  it("is refused if it does not exist, and a file if others may read it", async () => {
    expect((await run(["doctor", "--profile", "none"])).stderr).toContain("no profile none");
    expect((await run(["doctor", "--profile", "../up"])).status).toBe(2);
    await expect(asked({ RECEIVABLES_PROFILE: "none" })).rejects.toThrow("no profile none");
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
      ['{"a":{"extBaseUrl":"http://x"}}', "a.extBaseUrl is set without baseUrl"],
    ] as const) {
      await writeFile(file, text);
      expect((await run(["profiles"], "", settings)).stderr).toContain(fault);
    }
  });
});
