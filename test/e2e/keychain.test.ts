import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createPeople,
  type Ready,
  runCli,
  type Running,
  startCli,
  whenReady,
} from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import {
  type KeychainService,
  noKeychainService,
  startKeychainService,
} from "../support/keychain.ts";
import { verifies } from "../support/verifies.ts";

const PASSWORD = "canary-password";
const EMAIL = "ann@acme.example";
const why = noKeychainService();

const folder = useFolder();
let platform: Running;
let ready: Ready;
let keychain: KeychainService;

const run = async (line: string[], input = "", settings: Record<string, string> = {}) => {
  const env = {
    ...keychain.env,
    RECEIVABLES_DATA: join(folder, "mine"),
    RECEIVABLES_KEYCHAIN: "auto",
    ...settings,
  };
  const ended = await runCli(line, env, input);
  expect(ended.stdout + ended.stderr).not.toMatch(/canary|rcv[gx]_/);
  return ended;
};

const logIn = () => run(["login", "--base-url", ready.baseUrl, "--email", EMAIL], PASSWORD);

const untried = why === undefined ? "" : ` (could not be tried: ${why})`;

describe.skipIf(why !== undefined)(`the keychain of the operating system${untried}`, () => {
  beforeAll(async () => {
    keychain = await startKeychainService();
    const env = { RECEIVABLES_DATA: join(folder, "platform") };
    await createPeople(env, { emails: [EMAIL], password: PASSWORD, role: "Viewer" });
    platform = startCli(["platform", "--port", "0"], env);
    ready = await whenReady(platform);
  });
  afterAll(async () => {
    await platform.end("SIGTERM");
    await keychain.close();
  });

  verifies("C-38");
  it("is needed to open the profile: a copy of the data folder does not suffice", async () => {
    // Its keeper may need a moment before it listens.
    await expect
      .poll(async () => JSON.parse((await logIn()).stdout), { timeout: 30_000 })
      .toMatchObject({ credential: "api_key", keptIn: "keychain" });
    const { stderr } = await logIn();
    expect(stderr).toContain("stored in the keychain of this computer");
    const doctor = await run(["doctor"]);
    expect(JSON.parse(doctor.stdout).checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: "profile", found: expect.stringContaining("keychain") }),
        expect.objectContaining({ check: "credential", ok: true }),
      ]),
    );
    const without = await run(["doctor"], "", { RECEIVABLES_KEYCHAIN: "off" });
    expect(JSON.parse(without.stdout).checks).toContainEqual(
      expect.objectContaining({ check: "profile", ok: false, hint: expect.stringMatching(/in/) }),
    );
    const profiles = join(folder, "mine", "profiles");
    const [file = ""] = await readdir(profiles);
    expect(await readFile(join(profiles, file), "utf8")).not.toMatch(/canary|rcvg/);
  });

  it("deletes the entry at logout, also if another program asks that cannot read it", async () => {
    await logIn();
    const out = await run(["logout"], PASSWORD, { RECEIVABLES_KEYCHAIN: "off" });
    expect(JSON.parse(out.stdout)).toMatchObject({ removed: true, keyRevoked: true });
    expect((await run(["profiles"])).stdout).toBe("");
    expect((await run(["logout"], PASSWORD)).stderr).toContain("no stored profile");
  });
});
