import { createHash } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Vault } from "../../src/broker/port.ts";
import { createVault } from "../../src/broker/vault.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { activeTools } from "../../src/mcp/tools/listing/active-tools.ts";
import { createCallTool } from "../../src/mcp/tools/call.ts";
import { createHandOver } from "../../src/mcp/tools/hand-over.ts";
import { Secret } from "../../src/kit/secret.ts";
import {
  type CreateOwnKey,
  createSecretPageHandler,
} from "../../src/mcp/http/secret-page-handler.ts";
import { createSecretPages, OWN_KEY } from "../../src/mcp/tools/secret-pages.ts";
import { createReplayFolder } from "../../src/mcp/tools/asking/replay-guard.ts";
import { alterToken } from "../support/alter-token.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import {
  type Browser,
  HOSTS,
  KEY,
  createLineLog,
  connectLegacy,
  createOptions,
  readProblem,
  readText,
  YES,
} from "./hosts.ts";
import { type ScriptedBroker, scriptBroker } from "./script.ts";
import { verifies } from "../support/verifies.ts";

const SECRET = "rcvg_canary-0123456789-canary";
const BASE = "https://mcp.example/behind";
const CALLER = "own";

let folder: string;
let clock: FakeClock;
let vault: Vault;
let logged: ReturnType<typeof createLineLog>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pages-"));
  clock = fakeClock();
  vault = createVault({ folder: join(folder, "secrets"), masterKey: async () => KEY, clock });
  logged = createLineLog();
});

const pagesWith = (more: { key?: Buffer; signsIn?: boolean } = {}) =>
  createSecretPages({ key: KEY, base: BASE, now: clock, signsIn: false, ...more });

/** One of several processes behind one URL. They share the key and the folders only. */
const startProcess = (createOwnKey?: CreateOwnKey) => {
  const handle = createSecretPageHandler({
    pages: pagesWith(),
    vault,
    replayGuard: createReplayFolder(join(folder, "replay"), clock),
    now: clock,
    log: logged.log,
    brand: { name: "Demo Manufacturing" },
  });
  // A proxy may remove the first part of the path.
  const send = async (url: string, method: string, body?: URLSearchParams) => {
    const init = { method, ...(body === undefined ? {} : { body }) };
    const answer = await handle(new Request(url.replace("/behind", ""), init), createOwnKey);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return {
    look: (url: string, method = "GET") => send(url, method),
    press: (url: string, fields: Record<string, string> = {}) =>
      send(url, "POST", new URLSearchParams(fields)),
  };
};

const storeWithPage = async (caller = CALLER) => {
  const kind = "api-key" as const;
  const name = await vault.put({ kind, keyId: "key-1", tenantId: "t", value: SECRET });
  return { name, ...pagesWith().createLink({ name, kind }, caller) };
};

describe("the page of a secret", () => {
  verifies("D-MCP-4");
  it("shows it once, after a POST, and any number of GETs use nothing up", async () => {
    const { url, name } = await storeWithPage();
    const [one, other] = [startProcess(), startProcess()];
    for (const method of ["GET", "HEAD", "GET"]) {
      const looked = await one.look(url, method);
      expect(looked.status).toBe(200);
      expect(looked.text).not.toContain("canary");
    }
    const { text } = await one.look(url);
    expect(text).toContain("Show the API key");
    expect(text).toContain("<span>Demo Manufacturing</span>");
    const shown = await other.press(url);
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(SECRET)]);
    const again = await one.press(url);
    expect([again.status, again.text]).toEqual([410, expect.not.stringContaining("canary")]);
    expect((await other.look(url)).status).toBe(410);
    expect(await vault.show(name)).toBeUndefined();
  });

  verifies("D-MCP-4");
  it("shows it to one of several simultaneous requests to different processes", async () => {
    const { url } = await storeWithPage();
    const all = await Promise.all(Array.from({ length: 8 }, () => startProcess().press(url)));
    expect(all.filter(({ text }) => text.includes(SECRET))).toHaveLength(1);
    expect(all.filter(({ status }) => status === 410)).toHaveLength(7);
  });

  verifies("C-66");
  it("expires after ten minutes", async () => {
    const { url, name } = await storeWithPage();
    clock.advance(10 * MINUTE + 1);
    expect((await startProcess().look(url)).status).toBe(410);
    expect((await startProcess().press(url)).status).toBe(410);
    expect(await vault.show(name)).toBe(SECRET);
  });

  verifies("C-66");
  it("rejects an address that is invented, altered, or sealed with another key", async () => {
    const { url, name } = await storeWithPage();
    const { url: foreign } = pagesWith({ key: Buffer.alloc(32, 8) }).createLink(
      { name, kind: "api-key" },
      CALLER,
    );
    for (const address of [`${BASE}/secrets/`, alterToken(url), `${url}x`, foreign]) {
      const pressed = await startProcess().press(address);
      expect([pressed.status, pressed.text]).toEqual([410, expect.not.stringContaining("canary")]);
    }
    expect(await vault.show(name)).toBe(SECRET);
  });

  verifies("C-65", "D-MCP-4");
  it("creates a key once, for the caller that asked, after the person signs in", async () => {
    const { url } = pagesWith().createLink(OWN_KEY, CALLER);
    const asked: unknown[] = [];
    const createOwnKey: CreateOwnKey = async (person, { caller, claim }) => {
      asked.push([person.email, person.password.reveal(), caller]);
      if (person.password.reveal() !== "right") return { status: 400, message: "No <b>." };
      return (await claim())
        ? { apiKey: new Secret(SECRET) }
        : { status: 410, message: "The key was created already." };
    };
    const [one, other] = [startProcess(createOwnKey), startProcess(createOwnKey)];
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
  it("creates no key after ten minutes, or on a server without the built-in sign-in", async () => {
    const createOwnKey: CreateOwnKey = async () => ({ apiKey: new Secret(SECRET) });
    const { url } = pagesWith().createLink(OWN_KEY, CALLER);
    expect((await startProcess().look(url)).status).toBe(410);
    expect((await startProcess().press(url)).status).toBe(410);
    clock.advance(10 * MINUTE + 1);
    for (const answer of [
      await startProcess(createOwnKey).look(url),
      await startProcess(createOwnKey).press(url, { email: "ann@x", password: "right" }),
    ]) {
      expect([answer.status, answer.text]).toEqual([410, expect.not.stringContaining("canary")]);
    }
  });

  it("cannot be cached or framed, runs no script, and sends no Referer", async () => {
    const { url } = await storeWithPage();
    const desk = startProcess();
    const answers = [await desk.look(url), await desk.press(url), await desk.press(url)];
    for (const { headers, text } of answers) {
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; /);
      expect(headers.get("content-security-policy")).not.toMatch(/script|unsafe/);
      // Browsers ignore a style sheet whose hash differs from the policy.
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

const remote = async (broker: ScriptedBroker, signsIn = false) => {
  broker.vault = vault;
  return createOptions(broker, {
    caller: CALLER,
    secretPages: pagesWith({ signsIn }),
    now: clock,
    log: logged.log,
    wait: { sleep: () => new Promise(() => {}), chance: () => 0 },
  });
};

describe.each(HOSTS)("a secret created over HTTP (%s)", (_name, open) => {
  const opened: string[] = [];
  const accept: Browser = (url) => {
    opened.push(url);
    return { action: "accept" };
  };
  beforeEach(() => {
    opened.length = 0;
  });

  verifies("D-MCP-4");
  it("is shown on a page that the host opens, without the model", async () => {
    const broker = scriptBroker({ "api_keys.create": () => made });
    const host = await open(await remote(broker), undefined, accept);
    const result = await host.call("api_keys_create");
    expect(result.structuredContent).toMatchObject({ keyId: "key-1", storedAs: "api-key-key-1" });
    expect(readText(result)).toContain("was given a page");
    expect(opened).toHaveLength(1);
    const [url = ""] = opened;
    expect(JSON.stringify(result)).not.toContain(url.split("/").at(-1));
    expect(JSON.stringify(result) + logged.lines.join("")).not.toContain("canary");
    expect(broker.seen.map(({ id }) => id)).toEqual(["api_keys.create"]);
    expect((await startProcess().press(url)).text).toContain(SECRET);
  });

  verifies("D-MCP-2");
  it("is shown after the webhook was confirmed, and the webhook is created once", async () => {
    const broker = scriptBroker({ "webhooks.create": () => hook });
    const host = await open(await remote(broker), YES, accept);
    const result = await host.call("webhooks_create", { callbackUrl: hook.callbackUrl });
    expect(result.structuredContent).toMatchObject({ secretStoredAs: "webhook-secret-hook-1" });
    expect(broker.seen.map(({ id }) => id)).toEqual(["webhooks.create"]);
    expect((await startProcess().press(opened[0] ?? "")).text).toContain(SECRET);
  });

  it.each([
    ["opens no pages", undefined],
    ["whose person declines", (): ReturnType<Browser> => ({ action: "decline" })],
    ["whose person cancels", (): ReturnType<Browser> => ({ action: "cancel" })],
  ])(
    "is named in the answer without a page's address, for a host that %s",
    async (_what, browser) => {
      const broker = scriptBroker({ "api_keys.create": () => made });
      const host = await open(await remote(broker), undefined, browser);
      const result = await host.call("api_keys_create");
      expect(result.structuredContent).toMatchObject({ storedAs: "api-key-key-1" });
      expect(readText(result)).toContain("secrets show api-key-key-1");
      // The server's website is in `_meta`.
      const { content, structuredContent } = result;
      expect(JSON.stringify({ content, structuredContent })).not.toMatch(/https:/);
      expect(JSON.stringify(result)).not.toMatch(/canary/);
      expect(await vault.show("api-key-key-1")).toBe(SECRET);
    },
  );
});

describe.each(HOSTS)("a key that the person must create themselves (%s)", (_name, open) => {
  const createOwnKey: CreateOwnKey = async ({ email }, { caller }) => ({
    apiKey: new Secret(`${SECRET} of ${email} for ${caller}`),
  });
  const made = async (url: string) =>
    (await startProcess(createOwnKey).press(url, { email: "ann@x", password: "p" })).text;

  verifies("D-MCP-4");
  it("is created on a page that the host opens, without the model", async () => {
    const broker = scriptBroker({});
    const opened: string[] = [];
    const messages: string[] = [];
    const host = await open(await remote(broker, true), undefined, (url, message) => {
      opened.push(url);
      messages.push(message);
      return { action: "accept" };
    });
    const result = await host.call("api_keys_create");
    expect(readProblem(result)).toMatchObject({ code: "sign_in_required", status: 401 });
    expect(readText(result)).toContain("was given a page");
    expect(messages).toEqual([expect.stringContaining("Sign in on this page")]);
    expect(readText(result)).not.toContain("/secrets/");
    expect(await made(opened[0] ?? "")).toContain(`${SECRET} of ann@x for ${CALLER}`);
    expect(broker.seen).toEqual([]);
  });

  it.each([
    ["opens no page", undefined],
    ["whose person declines", (): ReturnType<Browser> => ({ action: "decline" })],
  ])("is announced by the page's address to a host that %s", async (_what, browser) => {
    const host = await open(await remote(scriptBroker({}), true), undefined, browser);
    const result = await host.call("api_keys_create");
    expect(readProblem(result)).toMatchObject({ code: "sign_in_required" });
    const [url = ""] = /https:\/\/\S+/.exec(readText(result)) ?? [];
    expect(await made(url)).toContain(SECRET);
  });
});

verifies("C-66");
describe("a host of 2026 that repeats the call with a page's answer", () => {
  it("creates no second secret from a foreign state", async () => {
    const broker = scriptBroker({ "api_keys.create": () => made });
    const needs = await remote(broker);
    const tool = activeTools(needs.settings).find(({ name }) => name === "api_keys_create");
    const call = (state: unknown) =>
      createCallTool(needs)({
        tool: tool as NonNullable<typeof tool>,
        args: {},
        client: "client-1",
        session: "session-1",
        host: { asks: "never" },
        showsViews: false,
        opens: { opens: "by_round", responses: { page: { action: "accept" } }, state },
        signal: new AbortController().signal,
        progress: async () => {},
      });
    for (const state of [undefined, "made-up", 7]) {
      expect(readProblem((await call(state)) as never).code).toBe("confirmation_invalid");
    }
    expect(broker.seen).toEqual([]);
  });

  it("never gets another caller's answer", async () => {
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
      "is not this server",
    );
    expect(() => mine.resume(host, { ...purpose, args: { x: 1 } })).toThrow("is not this server");
    expect(JSON.stringify(begun.ask)).not.toContain('"k"');
  });
});

describe("a person who does not answer", () => {
  it("does not delay the call of a host of 2025", async () => {
    const broker = scriptBroker({ "api_keys.create": () => made });
    const needs = { ...(await remote(broker)), wait: { sleep: async () => {}, chance: () => 0 } };
    const host = await connectLegacy(
      { ...needs, open: async () => needs },
      undefined,
      () => new Promise(() => {}),
    );
    const result = await host.call("api_keys_create");
    expect(readText(result)).toContain("was given a page");
  });
});
