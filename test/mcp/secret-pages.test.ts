import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Vault } from "../../src/broker/port.ts";
import { createFileVault } from "../../src/broker/vault.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { activeTools } from "../../src/mcp/calls/active-tools.ts";
import { createCallTool } from "../../src/mcp/calls/call.ts";
import { createHandOver } from "../../src/mcp/calls/hand-over.ts";
import { Secret } from "../../src/kit/secret.ts";
import { createSecretDesk, type MakeKey } from "../../src/mcp/http/secret-desk.ts";
import { createSecretPages, OWN_KEY, type Proof } from "../../src/mcp/http/secret-pages.ts";
import { createReplayFolder } from "../../src/mcp/calls/replay-guard.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import {
  type Browser,
  HOSTS,
  KEY,
  keptLog,
  legacyHost,
  needsOf,
  problemIn,
  textOf,
  YES,
} from "./hosts.ts";
import { type ScriptedBroker, scripted } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const SECRET = "rcvg_canary-0123456789-canary";
const BASE = "https://mcp.example/behind";
const CALLER = "own";
const TOKENS: Record<string, string> = { "token-of-mine": CALLER, "token-of-another": "another" };

let folder: string;
let clock: FakeClock;
let vault: Vault;
let logged: ReturnType<typeof keptLog>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pages-"));
  clock = fakeClock();
  vault = createFileVault({ folder: join(folder, "secrets"), masterKey: async () => KEY, clock });
  logged = keptLog();
});
afterEach(() => rm(folder, { recursive: true }));

const pagesWith = (more: { key?: Buffer; proof?: Proof } = {}) =>
  createSecretPages({ key: KEY, base: BASE, now: clock, proof: "token", ...more });

/** One of the processes behind the address: they share the key and the folders, and nothing else. */
const process = (proof: Proof = "address", makeKey?: MakeKey) => {
  const desk = createSecretDesk({
    pages: pagesWith({ proof }),
    vault,
    replayGuard: createReplayFolder(join(folder, "replay"), clock),
    callerOf: async (token) => TOKENS[token],
    log: logged.log,
  });
  // A proxy may leave the first part of the path out, or not.
  const send = async (url: string, method: string, body?: URLSearchParams) => {
    const init = { method, ...(body === undefined ? {} : { body }) };
    const answer = await desk(new Request(url.replace("/behind", ""), init), makeKey);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return {
    look: (url: string, method = "GET") => send(url, method),
    press: (url: string, fields: Record<string, string> = {}) =>
      send(url, "POST", new URLSearchParams(fields)),
  };
};

const putAway = async (caller = CALLER) => {
  const kind = "api-key" as const;
  const name = await vault.put({ kind, keyId: "key-1", tenantId: "t", value: SECRET });
  return { name, ...pagesWith().make({ name, kind }, caller) };
};

describe("the page of a secret", () => {
  verifies("D-MCP-4");
  it("shows it once, when its button is pressed, however often it was looked at", async () => {
    const { url, name } = await putAway();
    const [one, other] = [process(), process()];
    for (const method of ["GET", "HEAD", "GET"]) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      const looked = await one.look(url, method);
      expect(looked.status).toBe(200);
      expect(looked.text).not.toContain("canary");
    }
    expect((await one.look(url)).text).toContain("Show the API key");
    const shown = await other.press(url);
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(SECRET)]);
    const again = await one.press(url);
    expect([again.status, again.text]).toEqual([410, expect.not.stringContaining("canary")]);
    expect((await other.look(url)).status).toBe(410);
    expect(await vault.show(name)).toBeUndefined();
  });

  verifies("D-MCP-4");
  it("shows it to one of many who press at once, whatever process they come to", async () => {
    const { url } = await putAway();
    const all = await Promise.all(Array.from({ length: 8 }, () => process().press(url)));
    expect(all.filter(({ text }) => text.includes(SECRET))).toHaveLength(1);
    expect(all.filter(({ status }) => status === 410)).toHaveLength(7);
  });

  verifies("C-66");
  it("holds for ten minutes", async () => {
    const { url, name } = await putAway();
    clock.advance(10 * MINUTE + 1);
    expect((await process().look(url)).status).toBe(410);
    expect((await process().press(url)).status).toBe(410);
    expect(await vault.show(name)).toBe(SECRET);
  });

  verifies("C-66");
  it("is not at an address that is made up, altered, or of another key", async () => {
    const { url, name } = await putAway();
    const { url: foreign } = pagesWith({ key: Buffer.alloc(32, 8) }).make(
      { name, kind: "api-key" },
      CALLER,
    );
    const last = url.at(-1) === "A" ? "B" : "A";
    for (const address of [`${BASE}/secrets/`, `${url.slice(0, -1)}${last}`, `${url}x`, foreign]) {
      // oxlint-disable-next-line no-await-in-loop -- one address after the other
      const pressed = await process().press(address);
      expect([pressed.status, pressed.text]).toEqual([410, expect.not.stringContaining("canary")]);
    }
    expect(await vault.show(name)).toBe(SECRET);
  });

  verifies("C-65");
  it("asks for the token by which it was made, and only its owner uses the page up", async () => {
    const { url } = await putAway();
    const desk = process("token");
    expect((await desk.look(url)).text).toContain('name="token"');
    for (const token of ["", "token-of-another", "made-up", "x".repeat(5000)]) {
      // oxlint-disable-next-line no-await-in-loop -- one try after the other
      const refused = await desk.press(url, { token });
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringContaining('role="alert"'),
      ]);
      expect(refused.text).not.toMatch(/canary|token-of/);
    }
    const shown = await desk.press(url, { token: " token-of-mine " });
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(SECRET)]);
  });

  verifies("C-65", "D-MCP-4");
  it("makes a key for whoever it was asked for, when they sign in, and once", async () => {
    const { url } = pagesWith().make(OWN_KEY, CALLER);
    const asked: unknown[] = [];
    const makeKey: MakeKey = async (person, { caller, claim }) => {
      asked.push([person.email, person.password.reveal(), caller]);
      if (person.password.reveal() !== "right") return { status: 400, message: "No <b>." };
      return (await claim())
        ? { apiKey: new Secret(SECRET) }
        : { status: 410, message: "It was made already." };
    };
    const [one, other] = [process("password", makeKey), process("password", makeKey)];
    const looked = await one.look(url);
    expect([looked.status, looked.text]).toEqual([200, expect.stringContaining('name="password"')]);
    const wrong = await one.press(url, { email: "ann@<a>", password: "wrong-canary" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain("No &lt;b&gt;.");
    expect(wrong.text).toContain('value="ann@&lt;a&gt;"');
    expect(wrong.text).not.toContain("canary");
    const shown = await other.press(url, { email: " ann@x ", password: "right" });
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(SECRET)]);
    const again = await one.press(url, { email: "ann@x", password: "right" });
    expect([again.status, again.text]).toEqual([410, expect.not.stringContaining("canary")]);
    expect(asked.slice(1)).toEqual([
      ["ann@x", "right", CALLER],
      ["ann@x", "right", CALLER],
    ]);
    expect(logged.lines.join("")).not.toMatch(/canary|right/);
  });

  verifies("C-66");
  it("makes no key after ten minutes, nor where nobody signs in", async () => {
    const makeKey: MakeKey = async () => ({ apiKey: new Secret(SECRET) });
    const { url } = pagesWith().make(OWN_KEY, CALLER);
    expect((await process("token").look(url)).status).toBe(410);
    expect((await process("token").press(url, { token: "token-of-mine" })).status).toBe(410);
    clock.advance(10 * MINUTE + 1);
    for (const answer of [
      await process("password", makeKey).look(url),
      await process("password", makeKey).press(url, { email: "ann@x", password: "right" }),
    ]) {
      expect([answer.status, answer.text]).toEqual([410, expect.not.stringContaining("canary")]);
    }
  });

  it("is stored and framed by nobody, runs nothing, and tells nobody its address", async () => {
    const { url } = await putAway();
    const desk = process();
    const answers = [await desk.look(url), await desk.press(url), await desk.press(url)];
    for (const { headers, text } of answers) {
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; /);
      expect(headers.get("content-security-policy")).not.toMatch(/script|unsafe/);
      // A style sheet that differs by a space from what the policy names is not used.
      const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      expect(headers.get("content-security-policy")).toContain(`style-src 'sha256-${hash}'`);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(text).not.toMatch(/<script|https?:\/\//);
    }
    expect((await desk.look(url, "PUT")).status).toBe(405);
    const part = url.split("/").at(-1) ?? "";
    expect(logged.lines.join("")).not.toMatch(/canary/);
    expect(logged.lines.join("")).not.toContain(part);
    expect(logged.lines.join("")).toContain("secret_page.shown");
  });
});

const made = { keyId: "key-1", apiKey: SECRET, createDateInMillis: 5, expiresAtInMills: 0 };
const hook = {
  id: "hook-1",
  tenantId: "tenant-1",
  callbackUrl: "https://hooks.example/in",
  secret: SECRET,
  createdAt: "2026-03-02T09:00:00.000Z",
  updatedAt: "2026-03-02T09:00:00.000Z",
};

const remote = async (broker: ScriptedBroker, proof: Proof = "token") => {
  broker.vault = vault;
  return needsOf(broker, {
    caller: CALLER,
    secretPages: pagesWith({ proof }),
    now: clock,
    log: logged.log,
    wait: { sleep: () => new Promise(() => {}), chance: () => 0 },
  });
};

describe.each(HOSTS)("a secret that was made over HTTP (%s)", (_name, open) => {
  const opened: string[] = [];
  const accept: Browser = (url) => {
    opened.push(url);
    return { action: "accept" };
  };
  beforeEach(() => {
    opened.length = 0;
  });

  verifies("D-MCP-4");
  it("is handed over on a page that the host opens, past the model", async () => {
    const broker = scripted({ "api_keys.create": () => made });
    const host = await open(await remote(broker), undefined, accept);
    const result = await host.call("api_keys_create");
    expect(result.structuredContent).toMatchObject({ keyId: "key-1", storedAs: "api-key-key-1" });
    expect(textOf(result)).toContain("was given a page");
    expect(opened).toHaveLength(1);
    const [url = ""] = opened;
    expect(JSON.stringify(result)).not.toContain(url.split("/").at(-1));
    expect(JSON.stringify(result) + logged.lines.join("")).not.toContain("canary");
    expect(broker.seen.map(({ id }) => id)).toEqual(["api_keys.create"]);
    expect((await process("token").press(url)).status).toBe(403);
    const shown = await process("token").press(url, { token: "token-of-mine" });
    expect(shown.text).toContain(SECRET);
    await host.close();
  });

  verifies("D-MCP-2");
  it("comes after the question of a webhook, and the webhook is made once", async () => {
    const broker = scripted({ "webhooks.create": () => hook });
    const host = await open(await remote(broker), YES, accept);
    const result = await host.call("webhooks_create", { callbackUrl: hook.callbackUrl });
    expect(result.structuredContent).toMatchObject({ secretStoredAs: "webhook-secret-hook-1" });
    expect(broker.seen.map(({ id }) => id)).toEqual(["webhooks.create"]);
    expect((await process().press(opened[0] ?? "")).text).toContain(SECRET);
    await host.close();
  });

  it.each([
    ["opens no page", undefined],
    ["whose person declines", (): ReturnType<Browser> => ({ action: "decline" })],
    ["whose person looks away", (): ReturnType<Browser> => ({ action: "cancel" })],
  ])(
    "is told of by an address that shows nothing by itself, to a host that %s",
    async (_what, browser) => {
      const broker = scripted({ "api_keys.create": () => made });
      const host = await open(await remote(broker), undefined, browser);
      const result = await host.call("api_keys_create");
      expect(result.structuredContent).toMatchObject({ storedAs: "api-key-key-1" });
      const [url = ""] = /https:\/\/\S+/.exec(textOf(result)) ?? [];
      expect(url).toContain(`${BASE}/secrets/`);
      expect((await process("token").press(url)).status).toBe(403);
      const shown = await process("token").press(url, { token: "token-of-mine" });
      expect(shown.text).toContain(SECRET);
      expect(JSON.stringify(result)).not.toContain("canary");
      await host.close();
    },
  );

  it("is told of by its name alone where nobody could show who they are", async () => {
    const broker = scripted({ "api_keys.create": () => made });
    const host = await open(await remote(broker, "address"));
    const result = await host.call("api_keys_create");
    expect(textOf(result)).toContain("secrets show api-key-key-1");
    expect(textOf(result)).not.toContain("https://");
    await host.close();
  });
});

describe.each(HOSTS)("a key that only its owner can make (%s)", (_name, open) => {
  const makeKey: MakeKey = async ({ email }, { caller }) => ({
    apiKey: new Secret(`${SECRET} of ${email} for ${caller}`),
  });
  const made = async (url: string) =>
    (await process("password", makeKey).press(url, { email: "ann@x", password: "p" })).text;

  verifies("D-MCP-4");
  it("is made on a page that the host opens, past the model", async () => {
    const broker = scripted({});
    const opened: string[] = [];
    const messages: string[] = [];
    const host = await open(await remote(broker, "password"), undefined, (url, message) => {
      opened.push(url);
      messages.push(message);
      return { action: "accept" };
    });
    const result = await host.call("api_keys_create");
    expect(problemIn(result)).toMatchObject({ code: "sign_in_required", status: 401 });
    expect(textOf(result)).toContain("was given a page");
    expect(messages).toEqual([expect.stringContaining("Sign in on this page")]);
    expect(textOf(result)).not.toContain("/secrets/");
    expect(await made(opened[0] ?? "")).toContain(`${SECRET} of ann@x for ${CALLER}`);
    expect(broker.seen).toEqual([]);
    await host.close();
  });

  it.each([
    ["opens no page", undefined],
    ["whose person declines", (): ReturnType<Browser> => ({ action: "decline" })],
  ])("is told of by the page's address to a host that %s", async (_what, browser) => {
    const host = await open(await remote(scripted({}), "password"), undefined, browser);
    const result = await host.call("api_keys_create");
    expect(problemIn(result)).toMatchObject({ code: "sign_in_required" });
    const [url = ""] = /https:\/\/\S+/.exec(textOf(result)) ?? [];
    expect(await made(url)).toContain(SECRET);
    await host.close();
  });
});

describe("a host of 2026 that comes back with a page's answer", () => {
  verifies("C-66");
  it("has nothing made a second time by what this server did not give", async () => {
    const broker = scripted({ "api_keys.create": () => made });
    const needs = await remote(broker);
    const tool = activeTools(needs.settings).find(({ name }) => name === "api_keys_create");
    const call = (state: unknown) =>
      createCallTool(needs)({
        tool: tool as NonNullable<typeof tool>,
        args: {},
        client: "client-1",
        host: { asks: "never" },
        opens: { opens: "by_round", responses: { page: { action: "accept" } }, state },
        signal: new AbortController().signal,
        progress: async () => {},
      });
    for (const state of [undefined, "made-up", 7]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(problemIn((await call(state)) as never).code).toBe("confirmation_invalid");
    }
    expect(broker.seen).toEqual([]);
  });

  verifies("C-66");
  it("gets another's answer in no case", async () => {
    const pages = pagesWith();
    const wait = { sleep: async () => {} };
    const purpose = { tool: "t", args: {}, tenantId: "t", principal: "p", caller: "own" };
    const mine = createHandOver({ key: KEY, pages, caller: "own", now: clock, wait });
    const begun = await mine.begin({
      answer: { structured: { keyId: "k" }, notes: [], etag: null },
      stored: { name: "n", kind: "api-key" },
      purpose,
      host: { opens: "by_round", responses: undefined, state: undefined },
    });
    if (!("ask" in begun)) throw new Error("nothing asked");
    const state = begun.ask.requestState;
    const host = { opens: "by_round", responses: { page: { action: "accept" } }, state } as const;
    expect(mine.resume(host, purpose)?.structured).toEqual({ keyId: "k" });
    expect(() => mine.resume(host, { ...purpose, caller: "another" })).toThrow(
      "not what this server",
    );
    expect(() => mine.resume(host, { ...purpose, args: { x: 1 } })).toThrow("not what this server");
    expect(JSON.stringify(begun.ask)).not.toContain('"k"');
  });
});

describe("a person who takes their time", () => {
  it("holds up no call of a host of 2025", async () => {
    const broker = scripted({ "api_keys.create": () => made });
    const needs = { ...(await remote(broker)), wait: { sleep: async () => {}, chance: () => 0 } };
    const host = await legacyHost(
      { ...needs, open: async () => needs },
      undefined,
      () => new Promise(() => {}),
    );
    const result = await host.call("api_keys_create");
    expect(textOf(result)).toContain("was given a page");
    await host.close();
  });
});
