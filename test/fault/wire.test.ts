import { connectionOf } from "../support/pdf.ts";
import { once } from "node:events";
import { request as ask } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPlatformListener, serve, type Served } from "../../src/bin/serve.ts";
import { operations } from "../../src/contract/index.ts";
import { onEveryStore, type Person, type Reply } from "../support/platform.ts";
import { type Records, seed } from "../support/records.ts";
import { SAMPLES } from "../support/samples.ts";
import { checkRefusal, checkSuccess } from "./answers.ts";
import { build, recipes, shapeOf } from "./recipes.ts";
import { watchRecords } from "./watch.ts";
import { verifies } from "../support/verifies.ts";

const SEED = Number(process.env["FAULT_SEED"] ?? 20_260_302);
const TENANT = "wired";
const QUIET_MS = 1500;
/** Allows a connection without any response. */
const SILENCE = 0;

/** Everything that comes back for these bytes, until the other side ends or is quiet. */
const exchange = async (port: number, text: string): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard += chunk;
  });
  // A server may end the connection before it has read everything.
  socket.on("error", () => {});
  socket.setTimeout(QUIET_MS, () => socket.destroy());
  socket.write(Buffer.from(text, "latin1"));
  await new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  return heard;
};

const statusesIn = (heard: string): number[] =>
  [...heard.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));

const GET = (path: string, ...more: string[]): string =>
  [`GET ${path} HTTP/1.1`, "Host: platform.test", "Connection: close", ...more, "", ""].join(
    "\r\n",
  );
const POST = (headers: string[], body: string): string =>
  [
    "POST /authentication/v1/logout HTTP/1.1",
    "Host: platform.test",
    "Connection: close",
    "Content-Type: application/json",
    ...headers,
    "",
    body,
  ].join("\r\n");

const BODY = '{"accessToken":"x"}';
const CHUNKED = "Transfer-Encoding: chunked";
const LENGTH = `Content-Length: ${BODY.length}`;

/** Malformed requests, with the statuses that may follow. */
const BROKEN: [what: string, text: string, allowed: number[]][] = [
  ["no HTTP", "hello\r\n\r\n", [400]],
  ["another version", "GET / HTTP/3.9\r\nHost: a\r\n\r\n", [400, 404, 505]],
  ["no host", "GET /health HTTP/1.1\r\n\r\n", [400]],
  [
    "two hosts",
    "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
    [200, 400],
  ],
  [
    "a host that is none",
    "GET /health HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n",
    [400],
  ],
  ["an empty host", "GET /health HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", [400]],
  ["NUL in the path", GET("/health\0x"), [400]],
  ["a space in the path", GET("/hea lth"), [400]],
  ["bytes above ASCII in the path", GET("/h\u00e9alth"), [400, 404]],
  ["percent signs without digits", GET("/dispute/v1/tenants/%zz/disputes/%"), [401]],
  ["an encoded NUL", GET("/dispute/v1/tenants/%00/disputes/%00"), [401]],
  ["a whole URL as path", GET("http://elsewhere.test/health"), [200, 400, 404]],
  ["a double slash", GET("//elsewhere.test/health"), [400, 404]],
  ["a star as path", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [400, 404]],
  ["TRACE", "TRACE /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [400, 404, 405]],
  ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", [SILENCE]],
  ["an upgrade", GET("/health", "Upgrade: websocket", "Sec-WebSocket-Key: x"), [200, 400, 426]],
  ["a header without a name", GET("/health", ": x"), [400]],
  ["a folded header", GET("/health", "X-A: b", " c"), [400]],
  ["a header with a bare line feed", GET("/health", "X-Request-Id: a\nX-Injected: b"), [200, 400]],
  ["control characters in a header", GET("/health", "X-Request-Id: a\u0001b"), [400]],
  ["a very long header", GET("/health", `X-Long: ${"x".repeat(70_000)}`), [431, SILENCE]],
  ["a very long path", GET(`/${"x".repeat(70_000)}`), [414, 431, SILENCE]],
  [
    "very many headers",
    GET("/health", ...Array.from({ length: 3000 }, (_, i) => `X-${i}: y`)),
    [200, 431],
  ],
  ["two lengths", POST([LENGTH, "Content-Length: 3"], BODY), [400]],
  ["a length and chunks", POST([LENGTH, CHUNKED], `13\r\n${BODY}\r\n0\r\n\r\n`), [400]],
  ["chunks and a length", POST([CHUNKED, "Content-Length: 4"], `5c\r\nGET /\r\n0\r\n\r\n`), [400]],
  ["chunks named twice", POST([CHUNKED, CHUNKED], `13\r\n${BODY}\r\n0\r\n\r\n`), [400]],
  ["chunks under another name", POST(["Transfer-Encoding: xchunked"], "0\r\n\r\n"), [400]],
  ["a space before the colon", POST([LENGTH, "Transfer-Encoding : chunked"], BODY), [400]],
  ["a tab in the coding", POST([LENGTH, "Transfer-Encoding:\u000bchunked"], BODY), [400]],
  ["two lengths in one header", POST([`${LENGTH}, 3`], BODY), [400]],
  ["a length with a sign", POST([`Content-Length: +${BODY.length}`], BODY), [400]],
  ["a hexadecimal length", POST(["Content-Length: 0x13"], BODY), [400]],
  ["lines that end in a bare line feed", "GET /health HTTP/1.1\nHost: a\n\n", [400]],
  ["a chunk size of 2^64", POST([CHUNKED], `10000000000000000\r\n${BODY}`), [400]],
  [
    "a chunk extension of 40 KiB",
    POST([CHUNKED], `13;${"x".repeat(40_960)}\r\n${BODY}\r\n0\r\n\r\n`),
    [400, 413],
  ],
  [
    "a trailer that names a length",
    POST([CHUNKED], `13\r\n${BODY}\r\n0\r\nContent-Length: 1\r\n\r\n`),
    [200, 400],
  ],
  ["NUL in a header", GET("/health", "X-A: a\0b"), [400]],
  ["bytes that are not UTF-8 in a body", POST(["Content-Length: 4"], '"\u00ff\u00c0"'), [400]],
  ["a body nested 100,000 deep", POST(["Content-Length: 100000"], "[".repeat(100_000)), [400]],
  ["a negative length", POST(["Content-Length: -1"], BODY), [400]],
  ["a length that is no number", POST(["Content-Length: ten"], BODY), [400]],
  ["a length of 10^30", POST([`Content-Length: 1${"0".repeat(30)}`], BODY), [400, 413]],
  ["a length above the limit", POST(["Content-Length: 2000000"], BODY), [413]],
  ["chunks that are none", POST([CHUNKED], "zz\r\nhello\r\n"), [400]],
  [
    "chunks with an unknown coding",
    POST(["Transfer-Encoding: gzip, chunked"], `0\r\n\r\n`),
    [400, 415, 501],
  ],
  ["chunks as they should be", POST([CHUNKED], `13\r\n${BODY}\r\n0\r\n\r\n`), [200]],
  [
    "a body that says it is compressed",
    POST([LENGTH, "Content-Encoding: gzip"], BODY),
    [200, 400, 415],
  ],
  [
    "a second request in the body",
    POST([LENGTH], `${BODY}GET /secret HTTP/1.1\r\n\r\n`),
    [200, 400],
  ],
  ["an expectation", POST([LENGTH, "Expect: 100-continue"], BODY), [100, 200]],
  ["an expectation of something else", POST([LENGTH, "Expect: a miracle"], BODY), [417]],
];

onEveryStore("bytes from the network", (at) => {
  let served: Served;
  let admin: Person;
  let records: Records;
  let touches: () => Promise<number>;

  beforeAll(async () => {
    admin = await at().tenant(TENANT);
    const auditor = await at().exportCaller(TENANT);
    const connectionId = await connectionOf(at().store, TENANT);
    const callers = { auditor, ingester: auditor, exporter: auditor };
    records = await seed({
      admin,
      tenantId: TENANT,
      keyId: "none",
      ...callers,
      connectionId,
      store: at().store,
      mark: "w",
    });
    touches = await watchRecords(at().store);
    served = await serve(createPlatformListener(at().platform), { host: "127.0.0.1", port: 0 });
  });
  afterAll(() => served.close());

  const port = (): number => Number(new URL(served.url).port);

  verifies("C-41", "C-55", "C-57");
  it.each(BROKEN)(
    "%s gets an allowed response, and the next request its own",
    async (_what, text, allowed) => {
      const before = await touches();
      const heard = await exchange(port(), text);
      const statuses = statusesIn(heard);
      for (const status of statuses) expect(allowed, heard.slice(0, 500)).toContain(status);
      if (!allowed.includes(SILENCE)) expect(statuses.length, "an answer").toBeGreaterThan(0);
      expect(heard.toLowerCase()).not.toContain("x-injected");
      expect(heard).not.toMatch(/node_modules|at .*\.ts:/);
      expect(statusesIn(await exchange(port(), GET("/health")))).toEqual([200]);
      expect(await touches()).toBe(before);
    },
  );

  verifies("C-57");
  it("never takes the rest of a body for a request", async () => {
    const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    const kept = POST([`Content-Length: ${hidden.length}`], hidden).replace(
      "Connection: close\r\n",
      "",
    );
    expect(statusesIn(await exchange(port(), kept))).toEqual([400]);
  });

  verifies("C-57");
  it("lets a client read why a request is refused that it is still sending", async () => {
    const long = POST(["Content-Length: 4000000"], "x".repeat(4_000_000));
    for (const text of [
      long.replace("logout", `logout?${"x".repeat(20_000)}`),
      `no HTTP ${long}`,
    ]) {
      const socket = connect(port(), "127.0.0.1");
      let heard = "";
      let reset: unknown = null;
      socket.on("data", (chunk) => (heard += String(chunk)));
      socket.on("error", (error) => (reset = error));
      socket.end(text);
      await once(socket, "close");
      expect(reset).toBeNull();
      expect(statusesIn(heard)).toHaveLength(1);
    }
  });

  verifies("C-57");
  it("answers the request of a client that has ended its side, and survives a half request", async () => {
    const halved = connect(port(), "127.0.0.1");
    let heard = "";
    halved.on("data", (chunk) => (heard += String(chunk)));
    halved.end(GET("/health"));
    await once(halved, "close");
    expect(statusesIn(heard)).toEqual([200]);
    for (const text of ["", "G", "GET /health HTTP/1.1\r\nHo", POST([LENGTH], BODY.slice(0, 5))]) {
      const cut = connect(port(), "127.0.0.1");
      cut.end(Buffer.from(text, "latin1"));
      cut.resume();
      await once(cut, "close");
    }
    expect(statusesIn(await exchange(port(), GET("/health")))).toEqual([200]);
  });

  verifies("C-48");
  it("answers malformed percent-encoding in paths and queries with an error", async () => {
    const before = await touches();
    const disputes = `/dispute/v1/tenants/${TENANT}/disputes`;
    const odd = ["%zz", "%", "%00", "%F0%9F", "%ED%A0%80", "%2e%2e%2f", "__proto__", "%FF"];
    for (const text of odd) {
      for (const path of [
        `${disputes}/${text}`,
        `${disputes}/${text}/disputenotes/${text}`,
        `${disputes}?Sort=${text}`,
        `${disputes}?${text}=${text}`,
        `/dispute/v1/tenants/${text}/disputes`,
      ]) {
        const heard = await exchange(port(), GET(path, `X-Platform-Auth: ${admin.token}`));
        const [status = 0] = statusesIn(heard);
        expect([400, 403, 404], `${path}: ${heard}`).toContain(status);
        expect(heard).toContain("application/problem+json");
      }
    }
    expect(await touches()).toBe(before);
  });

  describe("a GET with a body", () => {
    const withBody = operations.filter(({ method, body }) => method === "GET" && body !== null);

    const overHttp = async (built: ReturnType<typeof build>, body: string): Promise<Reply> => {
      const sent = ask(`${served.url}${built.path}`, {
        method: "GET",
        headers: {
          "Content-Type": "application/json",
          "X-Platform-Auth": admin.token,
          "Content-Length": Buffer.byteLength(body),
          ...built.headers,
        },
      });
      sent.end(body);
      const [response] = await once(sent, "response");
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      const headers = new Headers(response.headers);
      return {
        status: response.statusCode,
        headers,
        text,
        body: text === "" ? undefined : JSON.parse(text),
      };
    };

    it.each(withBody.map((operation) => [operation.id, operation] as const))(
      `%s takes it as its twin does, and refuses what is wrong with it (FAULT_SEED=${SEED})`,
      async (id, operation) => {
        const before = await touches();
        const sample = SAMPLES[id]?.[0];
        const twin = operation.aliases[0];
        if (sample === undefined || twin === undefined) throw new Error(`${id} has no twin`);
        const args = { tenantId: TENANT, ...sample(records, "f") };
        const seen = new Set<number>();
        const shape = shapeOf(operation);
        for (const recipe of fc.sample(recipes(shape), { seed: SEED, numRuns: 60 })) {
          const built = build(shape, twin, args, { ...recipe, params: [], method: undefined });
          const reply = await overHttp(built, built.body ?? "");
          // A head that is too long never gets past Node.
          if (reply.status === 431) continue;
          if (reply.status >= 400) checkRefusal(operation, reply);
          else checkSuccess(operation, reply);
          seen.add(reply.status);
        }
        expect([...seen]).toEqual(expect.arrayContaining([200, 400]));
        expect(await touches()).toBe(before);
      },
    );
  });
});
