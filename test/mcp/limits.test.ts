import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpListener, type Timeouts, serve, type Served } from "../../src/server/serve.ts";
import { MINUTE, SECOND } from "../../src/kit/clock.ts";
import { toAuthInfo } from "../../src/mcp/caller.ts";
import type { Gate } from "../../src/mcp/http/gate.ts";
import {
  createHttpServer,
  type HttpOptions,
  type HttpServer,
} from "../../src/mcp/http/http-server.ts";
import { type FakeClock, fakeClock } from "../support/clock.ts";
import { rawRequest, rawSocket } from "../support/raw-socket.ts";
import { createCaller, createOptions, readProblem, type Result, type Setup } from "./hosts.ts";
import { scriptBroker } from "./script.ts";
import { FORM, META } from "./messages.ts";
import { verifies } from "../support/verifies.ts";

/** Admits every caller as the name in the Authorization header. */
const trustingGate: Gate = {
  admit: async ({ headers }) => toAuthInfo(createCaller(headers.get("authorization") ?? "ann")),
  describe: () => undefined,
};

const CALL = { name: "departments_get", arguments: { departmentCode: "A" } };

const message = (method: string, params: object = {}, meta: object = META) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });

const HEADERS = { ...FORM, "mcp-protocol-version": "2026-07-28" };
const CALLING = { ...HEADERS, "mcp-method": "tools/call", "mcp-name": CALL.name };

type World = {
  http: HttpServer;
  served: Served;
  /** Number of calls to the platform, and a function that lets waiting ones continue. */
  asked: () => number;
  release: () => void;
  post: (body: string, headers?: Record<string, string>) => Promise<Response>;
};

/** A server on a socket, over a platform whose responses the test releases. */
const world = async (
  options: Partial<HttpOptions> = {},
  setup: Setup & { waits?: boolean } = {},
  patience?: Timeouts,
): Promise<World> => {
  const { waits = true, ...rest } = setup;
  const { promise: told, resolve: release } = Promise.withResolvers<void>();
  const broker = scriptBroker({
    "departments.get": async () => {
      if (waits) await told;
      return { departmentId: "d" };
    },
    "departments.get_by_id": () => ({ departmentId: "d" }),
    "departments.delete": () => null,
  });
  const http = createHttpServer(await createOptions(broker, rest), {
    gate: trustingGate,
    ...options,
  });
  const served = await serve(createMcpListener(http), { host: "127.0.0.1", port: 0 }, patience);
  onTestFinished(async () => {
    release();
    const closed = served.close();
    await http.close();
    await closed;
  });
  const post = (body: string, headers: Record<string, string> = CALLING) =>
    fetch(`${served.url}/mcp`, { method: "POST", body, headers });
  return { http, served, asked: () => broker.seen.length, release, post };
};

const call = message("tools/call", CALL);

describe("a request", () => {
  const small = { body: { bytes: 1000, ms: 30 * SECOND } };

  const padding = "x".repeat(2000);
  verifies("HS-05");
  it.each([
    [
      "before the long part",
      `{"jsonrpc":"2.0","id":"call 7","params":{"id":1,"x":"${padding}"}}`,
      "call 7",
    ],
    ["beyond the limit", `{"jsonrpc":"2.0","params":{"id":1,"x":"${padding}"},"id":7}`, null],
  ])(
    "is refused with 413 if it is too long, under the id that stands %s",
    async (_place, long, id) => {
      const { post, served } = await world(small, { waits: false });
      const untold = fetch(`${served.url}/mcp`, {
        method: "POST",
        headers: CALLING,
        body: new Blob([long]).stream(),
        duplex: "half",
      });
      for (const answer of [await post(long), await untold]) {
        expect([answer.status, await answer.json()]).toEqual([
          413,
          {
            jsonrpc: "2.0",
            id,
            error: { code: -32_000, message: expect.stringContaining("1000 bytes") },
          },
        ]);
      }
      expect((await post(call)).status).toBe(200);
    },
  );

  it.each([["{"], [""], ["\uFEFFnull,"]])("is refused with 400 if it is %j", async (body) => {
    const { post } = await world();
    const response = await post(body);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: -32_700 } },
    ]);
  });

  it("is refused with 408 and the connection closed if it does not end", async () => {
    const { served } = await world({ body: { bytes: 1000, ms: 50 } });
    const slow = await rawSocket(served.url);
    const lines = Object.entries(CALLING).map(([name, value]) => `${name}: ${value}`);
    slow.say(
      ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", ...lines, "Content-Length: 500", "", "{"].join(
        "\r\n",
      ),
    );
    expect(await slow.ended()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("is closed if its headers arrive too slowly", async () => {
    const patience = { headersMs: 100, requestMs: 200, lookEveryMs: 20 };
    const { served } = await world({}, {}, patience);
    const slow = await rawSocket(served.url);
    slow.say("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    expect(await slow.ended()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("many requests at once", () => {
  const limitedTo = (limits: object) => ({
    concurrency: { reading: 10, running: 10, perCaller: 10, ...limits },
  });

  it("of one caller are refused with 429, and those of others are not", async () => {
    const { post, asked, release } = await world(limitedTo({ perCaller: 2 }));
    const first = [post(call), post(call)];
    await expect.poll(asked).toBe(2);
    const third = await post(call);
    expect([third.status, third.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await third.json()).toMatchObject({ jsonrpc: "2.0", id: 1, error: {} });
    const other = post(call, { ...CALLING, authorization: "bob" });
    await expect.poll(asked).toBe(3);
    release();
    const all = await Promise.all([...first, other]);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await post(call)).status).toBe(200);
  });

  it("are counted one by one in a batch", async () => {
    const { post, asked, release } = await world(limitedTo({ perCaller: 3 }));
    const headers = { ...HEADERS, "mcp-protocol-version": "2025-03-26" };
    const batch = (count: number) =>
      JSON.stringify(
        Array.from({ length: count }, (_, id) => ({
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: CALL,
        })),
      );
    expect((await post(batch(4), headers)).status).toBe(429);
    const two = post(batch(2), headers);
    await expect.poll(asked).toBe(2);
    expect((await post(batch(2), headers)).status).toBe(429);
    const third = post(call);
    await expect.poll(asked).toBe(3);
    expect((await post(call)).status).toBe(429);
    release();
    expect((await third).status).toBe(200);
    expect(await (await two).text()).toContain("departmentId");
    await expect.poll(async () => (await post(batch(3), headers)).status).toBe(200);
  });

  it("of many callers are refused with 503", async () => {
    const { post, asked, release } = await world(limitedTo({ running: 1 }));
    const first = post(call);
    await expect.poll(asked).toBe(1);
    const second = await post(call, { ...CALLING, authorization: "bob" });
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
    release();
    expect((await first).status).toBe(200);
  });

  it("are refused with 503 while too many others are being read", async () => {
    const { post, served } = await world(limitedTo({ reading: 1 }), { waits: false });
    const slow = await rawSocket(served.url);
    const lines = Object.entries(CALLING).map(([name, value]) => `${name}: ${value}`);
    const head = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1", ...lines];
    slow.say([...head, `Content-Length: ${Buffer.byteLength(call)}`, "", "{"].join("\r\n"));
    await expect.poll(async () => (await post(call)).status).toBe(503);
    slow.say(call.slice(1));
    await expect.poll(slow.heard).toMatch(/^HTTP\/1\.1 200 /);
    expect((await post(call)).status).toBe(200);
    slow.socket.destroy();
  });

  it("accept a person's answer while its call is waiting", async () => {
    const { served } = await world(limitedTo({ perCaller: 1, running: 1 }));
    const client = new Client(
      { name: "test", version: "1" },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: "legacy" } },
    );
    client.setRequestHandler("elicitation/create", () => ({
      action: "accept",
      content: { confirm: true },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)));
    const args = { departmentId: "d" };
    const gone = await client.callTool({ name: "departments_delete", arguments: args });
    expect(gone.structuredContent).toMatchObject({ deleted: true });
    await client.close();
  });
});

verifies("C-56", "C-79");
describe("calls of tools", () => {
  const calls = async ({ post }: World, authorization: string): Promise<Result> => {
    const response = await post(call, { ...CALLING, authorization });
    return ((await response.json()) as { result: Result }).result;
  };
  let clock: FakeClock;

  it("of one caller are limited per minute, and the refusal says when to retry", async () => {
    clock = fakeClock();
    const place = await world({}, { waits: false, now: clock, settings: { callsPerMinute: 3 } });
    const burst = await Promise.all(Array.from({ length: 5 }, () => calls(place, "ann")));
    const refused = burst.filter(({ isError }) => isError === true);
    expect(refused.map(readProblem)).toMatchObject([
      { code: "rate_limited", retryAfterSeconds: 20 },
      { code: "rate_limited", retryAfterSeconds: 20 },
    ]);
    expect(refused[0]?.content[0]?.text).toContain("20 seconds");
    expect(place.asked()).toBe(3);
    expect((await calls(place, "bob")).isError).not.toBe(true);
    clock.advance(20 * SECOND);
    expect((await calls(place, "ann")).isError).not.toBe(true);
    expect((await calls(place, "ann")).isError).toBe(true);
  });

  it("of one caller are limited by a count that nodes share, for the rest of its window", async () => {
    clock = fakeClock();
    const endsAt = clock() + MINUTE;
    let count = 0;
    const countCall = async () => ({ count: (count += 1), endsAt });
    const setup = { waits: false, now: clock, settings: { callsPerMinute: 3 }, countCall };
    const [one, two] = [await world({}, setup), await world({}, setup)];
    clock.advance(15 * SECOND);
    const answers: Result[] = [];
    for (const node of [one, two, one, two, one]) answers.push(await calls(node, "ann"));
    const refused = { code: "rate_limited", retryAfterSeconds: 45 };
    expect(answers.slice(0, 3).map(({ isError }) => isError ?? false)).toEqual(
      Array(3).fill(false),
    );
    expect(answers.slice(3).map(readProblem)).toMatchObject([refused, refused]);
    expect(one.asked() + two.asked()).toBe(3);
  });
});

verifies("C-68");
describe("headers that contradict the body", () => {
  const other = { ...META, "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const { "mcp-name": _name, ...nameless } = CALLING;
  const cases: [string, string, Record<string, string>, number, number][] = [
    ["another method", call, { ...CALLING, "mcp-method": "tools/list" }, 400, -32_020],
    ["another tool", call, { ...CALLING, "mcp-name": "departments_list" }, 400, -32_020],
    ["no tool", call, nameless, 400, -32_020],
    ["another version", call, { ...CALLING, "mcp-protocol-version": "2025-11-25" }, 400, -32_020],
    [
      "an unknown version",
      message("tools/call", CALL, other),
      { ...CALLING, "mcp-protocol-version": "2099-01-01" },
      400,
      -32_022,
    ],
    [
      "an unknown method",
      message("tools/burn"),
      { ...HEADERS, "mcp-method": "tools/burn" },
      404,
      -32_601,
    ],
  ];

  it.each(cases)("are refused: %s", async (_what, body, headers, status, code) => {
    const { post, asked } = await world({}, { waits: false });
    const response = await post(body, headers);
    expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
    expect(asked()).toBe(0);
  });
});

verifies("C-64");
describe("on the wire", () => {
  const status = async (lines: string[]): Promise<number> => {
    const { served } = await world({}, { waits: false });
    const socket = await rawSocket(served.url);
    const json = Object.entries(CALLING).map(([name, value]) => `${name}: ${value}`);
    socket.say(rawRequest([...lines, ...json, "Connection: close"], call));
    return Number(/^HTTP\/1\.1 (\d+)/.exec(await socket.ended())?.[1]);
  };
  const POST = "POST /mcp HTTP/1.1";

  it.each([
    [[POST, "Host: 127.0.0.1"], 200],
    [[POST, "Host: LOCALHOST:9"], 200],
    [[POST], 400],
    [["POST /mcp HTTP/1.0"], 400],
    [[POST, "Host: evil.example"], 403],
    [[POST, "Host: 127.0.0.1.evil.example"], 403],
    [[POST, "Host: 127.0.0.1@evil.example"], 400],
    [[POST, "Host: 127.0.0.1", "Host: evil.example"], 400],
    [[POST, "Host: evil.example", "Host: 127.0.0.1"], 400],
    [[POST, "Host: evil.example", "X-Forwarded-Host: 127.0.0.1"], 403],
    [["POST http://127.0.0.1/mcp HTTP/1.1", "Host: evil.example"], 403],
    [[POST, "Host: 127.0.0.1", "Origin: https://evil.example"], 403],
    [[POST, "Host: 127.0.0.1", "Origin: null"], 403],
    [[POST, "Host: 127.0.0.1", "Origin: http://localhost:1"], 200],
    [[POST, "Host: 127.0.0.1", "Origin: http://localhost", "Origin: https://evil.example"], 403],
  ] as [string[], number][])("%j answers %i", async (lines, expected) => {
    expect(await status(lines)).toBe(expected);
  });
});

describe("a server that shuts down", () => {
  it("finishes running calls, refuses new ones and closes every stream", async () => {
    const { http, served, post, asked, release } = await world();
    const listening = await post(message("subscriptions/listen", { filter: {} }), {
      ...HEADERS,
      "mcp-method": "subscriptions/listen",
    });
    const begun = post(call);
    await expect.poll(asked).toBe(1);
    const stopped = served.close();
    const closed = http.close();
    const late = await http.fetch(
      new Request(`${served.url}/mcp`, {
        method: "POST",
        body: call,
        headers: { ...CALLING, host: "127.0.0.1" },
      }),
    );
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"]);
    await expect(fetch(served.url)).rejects.toThrow();
    release();
    const response = await begun;
    expect(await response.json()).toMatchObject({
      result: { structuredContent: { departmentId: "d" } },
    });
    await listening.text();
    await Promise.all([closed, stopped]);
  });
});
