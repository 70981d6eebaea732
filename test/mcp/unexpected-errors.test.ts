import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createLog, type Log } from "../../src/kit/log.ts";
import { createOriginCheck } from "../../src/kit/cors.ts";
import type { Gate } from "../../src/mcp/http/gate.ts";
import type { HttpOptions } from "../../src/mcp/http/http-server.ts";
import { createSavedHandler } from "../../src/mcp/http/saved-handler.ts";
import { createPending } from "../../src/mcp/stdio/lines.ts";
import { failedPage } from "../../src/server/failures.ts";
import { observe } from "../../src/server/observe.ts";
import { createMcpListener, createPlatformListener, serve } from "../../src/server/serve.ts";
import { rawSocket } from "../support/raw-socket.ts";
import { verifies } from "../support/verifies.ts";
import { createOptions, OPEN } from "./hosts.ts";
import { FORM, HELLO, META } from "./messages.ts";
import { openHttp, openStdio } from "./opened.ts";
import { scriptBroker } from "./script.ts";

const TOKEN = "receivables-token-of-ann";
const WORDS = "the words of the failure";
const FAILED = "Something went wrong in this server.";

const fail = (): never => {
  throw new Error(`${WORDS}, and ${TOKEN}`);
};

/** The lines that this process writes on stderr until the test ends. */
const watchErrors = (): string[] => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
  return lines;
};

/** Checks that a failure is one JSON line with its place, without a stack or the caller's credentials. */
const expectLogged = (lines: readonly string[], event: string): void => {
  expect(lines).toHaveLength(1);
  const [line = ""] = lines;
  expect(line.trimEnd()).not.toContain("\n");
  expect(JSON.parse(line)).toMatchObject({ level: "error", event });
  expect(line).toContain(WORDS);
  expect(line).not.toContain("stack");
  expect(line).not.toContain(TOKEN);
  expect(line).not.toMatch(/node_modules|file:\/\/|\bat \S+ \(/);
};

const MODERN = { ...FORM, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

const list = (id: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/list",
  params: { _meta: META },
});

const error = (id: unknown) => ({ jsonrpc: "2.0", id, error: { code: -32_603, message: FAILED } });

const openFailing = async (options: Partial<HttpOptions>, log?: Log): Promise<string> =>
  openHttp(await createOptions(scriptBroker({}), log === undefined ? {} : { log }), {
    ...OPEN,
    ...options,
  });

const send = (
  url: string,
  body: unknown,
  headers: Record<string, string> = MODERN,
): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${TOKEN}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

afterEach(() => {
  vi.restoreAllMocks();
});

const failingGate: Gate = { admit: fail, describe: () => undefined };

verifies("HS-05", "C-99", "C-78");
describe("an error that no code expects, over HTTP", () => {
  it.each([
    ["a number", list(7), error(7)],
    ["a text", list("seven"), error("seven")],
    ["a batch", [list(1), list("two")], [error(1), error("two")]],
  ])("is answered under the id of its request: %s", async (_what, body, answer) => {
    const lines: string[] = [];
    const log = createLog("error", (line) => lines.push(line));
    const url = await openFailing({ gate: failingGate }, log);
    const response = await send(url, body);
    expect(response.status).toBe(500);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toEqual(answer);
    expectLogged(lines, "mcp.failed");
  });

  it("is answered without an id where none can be read", async () => {
    const url = await openFailing({ gate: failingGate });
    const response = await send(url, "{");
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_700 } });
    const stream = await fetch(url, { headers: { accept: "text/event-stream" } });
    expect(stream.status).toBe(500);
    expect(await stream.json()).toEqual(error(null));
  });

  it("leaves the connection to the next request", async () => {
    const url = await openFailing({ gate: failingGate });
    const connection = await rawSocket(url);
    const body = JSON.stringify(list(3));
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    connection.say(`${head}\r\n\r\n${body}${head}\r\nConnection: close\r\n\r\n${body}`);
    expect((await connection.ended()).match(/HTTP\/1\.1 500 /g)).toHaveLength(2);
  });

  it("can be read by scripts of an accepted origin", async () => {
    const origin = "https://app.example.com";
    const url = await openFailing({ gate: failingGate, isOrigin: createOriginCheck([origin]) });
    const response = await send(url, list(1), { ...MODERN, origin });
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(await response.json()).toEqual(error(1));
  });

  it("of a handler does not put its words into the answer", async () => {
    const lines: string[] = [];
    const log = createLog("error", (line) => lines.push(line));
    const options = await createOptions(scriptBroker({}), { log });
    const url = await openHttp({ ...options, open: async () => fail() });
    const read = { ...list(4), method: "resources/read" };
    const params = { uri: "receivables://guide", _meta: META };
    const response = await send(
      url,
      { ...read, params },
      { ...MODERN, "mcp-method": "resources/read", "mcp-name": params.uri },
    );
    const text = await response.text();
    expect(text).toContain(FAILED);
    expect(text).not.toContain(WORDS);
    expect(lines).toHaveLength(1);
  });

  it("ends the session that it would have opened, if nodes share sessions", async () => {
    const shared = {
      sessions: { add: async () => fail(), find: async () => undefined },
      changes: { watch: () => () => {}, announce: async () => {}, close: async () => {} },
    } as unknown as NonNullable<HttpOptions["shared"]>;
    const url = await openFailing({ shared });
    const response = await send(url, HELLO, FORM);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ id: HELLO.id, error: { code: -32_000 } });
    expect(response.headers.get("mcp-session-id")).toBeNull();
  });
});

describe("a failure of a listener", () => {
  const open = async (listener: Parameters<typeof serve>[0]): Promise<string> => {
    const served = await serve(listener, { host: "127.0.0.1", port: 0 });
    onTestFinished(() => served.close());
    return served.url;
  };
  const ask = (url: string): Promise<Response> =>
    fetch(`${url}/some/path?token=${TOKEN}`, { headers: { authorization: `Bearer ${TOKEN}` } });

  it.each([
    ["of the platform", createPlatformListener({ fetch: fail }), /problem\+json/],
    ["of a page", createMcpListener({ fetch: fail }, failedPage), /text\/html/],
    ["of the endpoint", createMcpListener({ fetch: fail }), /application\/json/],
    ["at once", fail, /problem\+json/],
    ["later", async () => fail(), /problem\+json/],
  ])("%s is logged once, and answered", async (_what, listener, type) => {
    for (const one of [listener, observe(() => {}, "/some/path", listener)]) {
      const lines = watchErrors();
      const response = await ask(await open(one));
      expect(response.status).toBe(500);
      expect(response.headers.get("content-type")).toMatch(type);
      const text = await response.text();
      expect(text).toMatch(/Something went wrong|Internal server error/);
      expect(text).not.toContain(WORDS);
      expectLogged(lines, "http.failed");
      vi.restoreAllMocks();
    }
  });

  it("that has begun to answer ends the connection", async () => {
    const lines = watchErrors();
    const url = await open((_request, response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("a");
      fail();
    });
    await expect(ask(url).then((response) => response.text())).rejects.toThrow();
    expectLogged(lines, "http.failed");
  });

  it("is no empty answer for a request without an address", async () => {
    const url = await open(createMcpListener({ fetch: fail }));
    const connection = await rawSocket(url);
    connection.say("GET /mcp HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    const heard = await connection.ended();
    expect(heard).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toContain('"code":-32600');
  });

  it("in the file of a saved table is no part of the table", async () => {
    async function* bytes(pieces: number): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < pieces; at += 1) yield Buffer.from("x".repeat(200_000));
      fail();
    }
    const name = "disputes_list-2026-01-01-abcdefgh.csv";
    const download = (pieces: number) =>
      createSavedHandler(
        { open: () => ({ tenantId: "t", owner: "o", name, place: "platform" }) },
        () => ({ put: async () => 0, open: async () => ({ size: 900_000, bytes: bytes(pieces) }) }),
      );
    const lines = watchErrors();
    const unread = await ask(await open(createMcpListener({ fetch: download(0) }, failedPage)));
    expect(unread.status).toBe(500);
    expect(await unread.text()).not.toContain(WORDS);
    expectLogged(lines, "http.failed");
    vi.spyOn(console, "error").mockImplementation(() => {});
    const cut = await rawSocket(await open(createMcpListener({ fetch: download(3) }, failedPage)));
    cut.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await cut.ended()).not.toContain(WORDS);
  });
});

describe("an error that no code expects, over stdio", () => {
  it("is answered under the id of its request, and the next one is answered too", async () => {
    const lines: string[] = [];
    const log = createLog("error", (line) => lines.push(line));
    const options = await createOptions(scriptBroker({}), { log });
    const stdio = openStdio({ ...options, open: async () => fail() });
    const read = { method: "resources/read", params: { uri: "receivables://guide" } };
    for (const message of [
      HELLO,
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: "r", ...read },
      { jsonrpc: "2.0", id: 9, method: "ping" },
    ]) {
      stdio.input.write(`${JSON.stringify(message)}\n`);
    }
    await vi.waitFor(() => expect(stdio.lines()).toHaveLength(3));
    const answers = stdio.lines().map((line) => JSON.parse(line) as { id: unknown });
    expect(answers.find(({ id }) => id === "r")).toEqual({ ...error("r") });
    expect(answers.find(({ id }) => id === 9)).toMatchObject({ result: {} });
    expect(stdio.lines().join("")).not.toContain(WORDS);
    expect(lines).toHaveLength(1);
  });

  it("answers each request that waits where the server cannot be loaded", async () => {
    const pending = createPending();
    const settled = pending.settled();
    for (const id of [1, "two"]) pending.add({ id, method: "tools/list" });
    pending.add({ method: "notifications/initialized" });
    const answers = pending.fail().map((line) => JSON.parse(line) as object);
    expect(answers).toEqual([error(1), error("two")]);
    await settled;
    expect(pending.fail()).toEqual([]);
  });
});
