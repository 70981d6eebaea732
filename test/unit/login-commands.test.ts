import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Ask } from "../../src/bin/commands/ask.ts";
import { readConfig } from "../../src/config/config.ts";
import { openPlatform, type OpenPlatform } from "../../src/bin/compose/platform.ts";
import { createPlatformListener, serve, type Served } from "../../src/server/serve.ts";
import { silentLog } from "../../src/kit/log.ts";
import { useFolder } from "../support/folder.ts";
import { closeNow } from "../support/listen.ts";
import { runCommand } from "../support/run-command.ts";
import { verifies } from "../support/verifies.ts";

const EMAIL = "ann@acme.example";
const PASSWORD = "canary pass wörd";
const OTHER = "canary other pass wörd";

const folder = useFolder();
let mine: string;
let platform: OpenPlatform;
let served: Served;

const run = async (
  argv: string[],
  { input = PASSWORD, ...different }: Parameters<typeof runCommand>[2] = {},
) => {
  const ended = await runCommand(mine, argv, { input, ...different });
  expect(ended.text + JSON.stringify(ended.printed)).not.toContain("canary");
  return ended;
};

const admin = async (line: string, input = "") => {
  const env = { RECEIVABLES_DATA: join(folder, "platform") };
  const { status, text } = await run(["admin", ...line.split(" ")], { input, env });
  expect([text, status]).toEqual(["", 0]);
};

/** Serves the platform, whose headers have the word Acme. */
const start = async (port = 0): Promise<void> => {
  const config = readConfig({
    env: { RECEIVABLES_DATA: join(folder, "platform"), RECEIVABLES_HEADER_WORD: "Acme" },
    dataFolder: folder,
    readFile: () => "",
  });
  platform = await openPlatform(config, silentLog, async () => served.url);
  served = await serve(createPlatformListener(platform), { host: "127.0.0.1", port });
};

const stop = async (): Promise<void> => {
  await served.close();
  await platform.close();
};

beforeAll(async () => {
  mine = folder;
  await admin("tenant create acme --name Acme");
  const person = `--email ${EMAIL} --first-name Ann --last-name Lee --role Viewer`;
  await admin(`user create --tenant acme ${person}`, PASSWORD);
  await start();
});
afterAll(() => stop());
beforeEach(async () => {
  mine = await mkdtemp(join(folder, "mine-"));
});

const logIn = (more: string[] = [], options: Parameters<typeof run>[1] = {}) =>
  run(["login", "--base-url", served.url, "--email", EMAIL, ...more], options);

verifies("HS-09");
describe("login", () => {
  it("names address and person where the password is wrong, and what to do", async () => {
    const { status, text } = await logIn([], { input: "wrong" });
    expect(status).toBe(1);
    expect(text).toContain(`${served.url} refused the login of ${EMAIL}`);
    expect(text).toContain("If the password was changed, use the new one");
    expect(text).not.toContain("doctor");
  });

  it("names an address that does not answer, its cause and the remedy", async () => {
    const away = "http://127.0.0.1:9";
    const { status, text } = await run(["login", "--base-url", away, "--email", EMAIL]);
    expect(status).toBe(1);
    expect(text).toMatch(
      /^unavailable: http:\/\/127\.0\.0\.1:9: nothing listens at 127\.0\.0\.1:9/,
    );
    expect(text).toContain("Start the platform, or check host and port.");
    expect(text).not.toContain("doctor");
  });

  it("names the base address where a path is too long", async () => {
    const { status, text } = await run([
      "login",
      "--base-url",
      `${served.url}/mcp`,
      "--email",
      EMAIL,
    ]);
    expect([status, text]).toEqual([
      1,
      expect.stringContaining(`The platform answers at ${served.url}:`),
    ]);
  });

  it("says that the header word differs, and both words", async () => {
    const { status, text } = await logIn();
    expect(status).toBe(1);
    expect(text).toContain("not the session in the header X-Platform-Auth");
    expect(text).toContain("X-Acme-Auth");
    expect(text).toContain("RECEIVABLES_HEADER_WORD (--header-word)");
  });

  it("keeps the header word in the profile, for doctor, logout and the next login", async () => {
    const { status, printed } = await logIn(["--header-word", "Acme"]);
    expect([status, printed[0]]).toEqual([0, expect.objectContaining({ headerWord: "Acme" })]);
    const checked = await run(["doctor", "--json"]);
    expect([checked.status, checked.printed[0]]).toEqual([
      0,
      expect.objectContaining({ ok: true }),
    ]);
    expect((await logIn()).status).toBe(0);
    const out = await run(["logout"], { input: "" });
    expect(out.printed).toEqual([{ profile: "default", removed: true, keyRevoked: true }]);
  });

  it("sends no password over plain http to another machine without consent", async () => {
    const line = ["login", "--base-url", "http://platform.invalid", "--email", EMAIL];
    const refused = await run(line);
    expect(refused.status).toBe(1);
    expect(refused.text).toMatch(/http:\/\/platform\.invalid is not encrypted/);
    expect(refused.text).toContain("--allow-http");
    const questions: string[] = [];
    const ask: Ask = {
      line: async () => EMAIL,
      hidden: async () => PASSWORD,
      choose: async (question) => {
        questions.push(question);
        return "no";
      },
    };
    expect((await run(line, { ask })).status).toBe(1);
    expect(questions).toEqual([expect.stringContaining("can read your password. Send it?")]);
    const allowed = await run([...line, "--allow-http"]);
    expect(allowed.text).toContain("platform.invalid does not resolve");
  });
});

describe("a changed password", () => {
  afterEach(() => admin(`user set-password --email ${EMAIL}`, PASSWORD));

  verifies("HS-09");
  it("is reported as the profile's key or password, never as a setting that is not set", async () => {
    await logIn(["--header-word", "Acme", "--profile", "key"]);
    await logIn(["--header-word", "Acme", "--profile", "word", "--keep-password"]);
    await admin(`user set-password --email ${EMAIL}`, OTHER);
    for (const [profile, found] of [
      ["key", "The platform refused the API key of the profile key"],
      ["word", "The platform refused the password of the profile word"],
    ] as const) {
      const { status, printed, text } = await run(["doctor", "--profile", profile]);
      expect(status).toBe(1);
      expect(text).toContain(found);
      expect(text).toContain(`Sign in again with the command \`login --profile ${profile}\``);
      expect(JSON.stringify(printed)).not.toContain("RECEIVABLES_API_KEY");
    }
  });
});

verifies("HS-09");
describe("logout", () => {
  it("removes the profile also where the platform is gone, and names the key", async () => {
    const { printed } = await logIn(["--header-word", "Acme"]);
    const { keyId } = printed[0] as { keyId: string };
    const { port } = new URL(served.url);
    await stop();
    const gone = await run(["logout"], { input: "" });
    expect([gone.status, gone.printed]).toEqual([
      0,
      [{ profile: "default", removed: true, keyRevoked: false }],
    ]);
    expect(gone.text).toContain(`nothing listens at 127.0.0.1:${port}`);
    expect(gone.text).toContain(`The key ${keyId} was not revoked`);
    await start(Number(port));
  });

  it("does not take another web server's answer for a revocation", async () => {
    const { port } = new URL(served.url);
    await logIn(["--header-word", "Acme"]);
    await stop();
    const other = createServer((_request, response) => {
      response.writeHead(404, { "Content-Type": "application/json" }).end('{"code":"not_found"}');
    });
    await new Promise<void>((resolve) => other.listen(Number(port), "127.0.0.1", resolve));
    const { text, printed } = await run(["logout"], { input: "" });
    expect(printed).toEqual([{ profile: "default", removed: true, keyRevoked: false }]);
    expect(text).toContain("is not a platform");
    await closeNow(other);
    await start(Number(port));
  });
});
