import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Vault } from "../../src/broker/port.ts";
import { fileVault } from "../../src/broker/vault.ts";
import { MINUTE } from "../../src/kit/clock.ts";
import { activeTools } from "../../src/mcp/calls/active-tools.ts";
import { createCallTool } from "../../src/mcp/calls/call.ts";
import { createHandOver } from "../../src/mcp/calls/hand-over.ts";
import { createSecretDesk } from "../../src/mcp/http/secret-desk.ts";
import { createSecretPages, type Way } from "../../src/mcp/http/secret-pages.ts";
import { createSpentFolder } from "../../src/mcp/calls/spent.ts";
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
  vault = fileVault({ folder: join(folder, "secrets"), masterKey: async () => KEY, clock });
  logged = keptLog();
});
afterEach(() => rm(folder, { recursive: true }));

const pagesWith = (more: { key?: Buffer; canProve?: boolean } = {}) =>
  createSecretPages({ key: KEY, base: BASE, now: clock, canProve: true, ...more });

/** One of the processes behind the address: they share the key and the folders, and nothing else. */
const process = () => {
  const desk = createSecretDesk({
    pages: pagesWith(),
    vault,
    spent: createSpentFolder(join(folder, "spent"), clock),
    callerOf: async (token) => TOKENS[token],
    log: logged.log,
  });
  // A proxy may leave the first part of the path out, or not.
  const send = async (url: string, method: string, body?: URLSearchParams) => {
    const init = { method, ...(body === undefined ? {} : { body }) };
    const answer = await desk(new Request(url.replace("/behind", ""), init));
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return {
    look: (url: string, method = "GET") => send(url, method),
    press: (url: string, fields: Record<string, string> = {}) =>
      send(url, "POST", new URLSearchParams(fields)),
  };
};

const putAway = async (way: Way, caller = CALLER) => {
  const kind = "api-key" as const;
  const name = await vault.put({ kind, keyId: "key-1", tenantId: "t", value: SECRET });
  return { name, ...pagesWith().make({ name, kind }, { caller, way }) };
};

describe("the page of a secret", () => {
  it("D-MCP-4 shows it once, when its button is pressed, however often it was looked at", async () => {
    const { url, name } = await putAway("host");
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

  it("D-MCP-4 shows it to one of many who press at once, whatever process they come to", async () => {
    const { url } = await putAway("host");
    const all = await Promise.all(Array.from({ length: 8 }, () => process().press(url)));
    expect(all.filter(({ text }) => text.includes(SECRET))).toHaveLength(1);
    expect(all.filter(({ status }) => status === 410)).toHaveLength(7);
  });

  it("C-66 holds for ten minutes", async () => {
    const { url, name } = await putAway("host");
    clock.advance(10 * MINUTE + 1);
    expect((await process().look(url)).status).toBe(410);
    expect((await process().press(url)).status).toBe(410);
    expect(await vault.show(name)).toBe(SECRET);
  });

  it("C-66 is not at an address that is made up, altered, or of another key", async () => {
    const { url, name } = await putAway("host");
    const { url: foreign } = pagesWith({ key: Buffer.alloc(32, 8) }).make(
      { name, kind: "api-key" },
      { caller: CALLER, way: "host" },
    );
    const last = url.at(-1) === "A" ? "B" : "A";
    for (const address of [`${BASE}/secrets/`, `${url.slice(0, -1)}${last}`, `${url}x`, foreign]) {
      // oxlint-disable-next-line no-await-in-loop -- one address after the other
      const pressed = await process().press(address);
      expect([pressed.status, pressed.text]).toEqual([410, expect.not.stringContaining("canary")]);
    }
    expect(await vault.show(name)).toBe(SECRET);
  });

  it("C-65 asks who it is where the address went by way of an answer, and only they use it up", async () => {
    const { url } = await putAway("answer");
    const desk = process();
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

  it("is stored and framed by nobody, runs nothing, and tells nobody its address", async () => {
    const { url } = await putAway("host");
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

const remote = async (broker: ScriptedBroker, canProve = true) => {
  broker.vault = vault;
  return needsOf(broker, {
    caller: CALLER,
    secretPages: pagesWith({ canProve }),
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

  it("D-MCP-4 is handed over on a page that the host opens, past the model", async () => {
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
    const looked = await process().look(url);
    expect(looked.text).not.toContain('name="token"');
    expect((await process().press(url)).text).toContain(SECRET);
    await host.close();
  });

  it("D-MCP-2 comes after the question of a webhook, and the webhook is made once", async () => {
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
      expect((await process().press(url)).status).toBe(403);
      const shown = await process().press(url, { token: "token-of-mine" });
      expect(shown.text).toContain(SECRET);
      expect(JSON.stringify(result)).not.toContain("canary");
      await host.close();
    },
  );

  it("is told of by its name alone where nobody could show who they are", async () => {
    const broker = scripted({ "api_keys.create": () => made });
    const host = await open(await remote(broker, false));
    const result = await host.call("api_keys_create");
    expect(textOf(result)).toContain("secrets show api-key-key-1");
    expect(textOf(result)).not.toContain("https://");
    await host.close();
  });
});

describe("a host of 2026 that comes back with a page's answer", () => {
  it("C-66 has nothing made a second time by what this server did not give", async () => {
    const broker = scripted({ "api_keys.create": () => made });
    const needs = await remote(broker);
    const tool = activeTools(needs.settings).find(({ name }) => name === "api_keys_create");
    const call = (state: unknown) =>
      createCallTool(needs)({
        tool: tool as NonNullable<typeof tool>,
        args: {},
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

  it("C-66 gets another's answer in no case", async () => {
    const pages = pagesWith();
    const wait = { sleep: async () => {} };
    const purpose = { tool: "t", args: {}, tenantId: "t", principal: "p", caller: "own" };
    const mine = createHandOver({ key: KEY, pages, caller: "own", now: clock, wait });
    const begun = await mine.begin({
      answer: { structured: { keyId: "k" }, notes: [], etag: null },
      kept: { name: "n", kind: "api-key" },
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
