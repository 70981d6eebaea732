import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { type Behave, FAKE_KEY, type Kind, RIGHT } from "./fake-platform.ts";
import { json, problem } from "./wild-server.ts";

/** A text in every bad response; it must not be repeated. */
export const HOSTILE = "hostile-7f3a-never-shown";

export type Misbehaviour = {
  what: string;
  behave: Behave;
  /** The code that all calls end with. */
  code: string;
  says: RegExp;
  /** Expected number of tries per call. */
  tries: Record<Kind, number>;
  /** Expected Retry-After in seconds. */
  wait?: number;
  /** The platform may or may not have executed changes. */
  uncertain: boolean;
  /** Whether the deadline ends the call. */
  hangs?: true;
};

const ONCE = { read: 1, put: 1, post: 1 };
/** Repeatable calls are tried three times. */
const AGAIN = { read: 3, put: 3, post: 1 };
const JSON_TYPE = { "content-type": "application/json" };

type Row = Partial<Pick<Misbehaviour, "tries" | "wait" | "hangs" | "code" | "uncertain">> &
  Pick<Misbehaviour, "says">;

const row = (what: string, behave: Behave, rest: Row): Misbehaviour => ({
  what,
  behave,
  code: "unavailable",
  tries: ONCE,
  uncertain: true,
  ...rest,
});

const answers =
  (
    status: number,
    headers: Record<string, string | string[]>,
    body: string | Buffer = "",
  ): Behave =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

/** Writes raw bytes to the connection, and ends it by default. */
const says =
  (bytes: string | Buffer, ending: "end" | "reset" | "none" = "end"): Behave =>
  ({ socket }) => {
    socket.write(bytes, () => {
      if (ending === "end") socket.end();
      if (ending === "reset") socket.resetAndDestroy();
    });
  };

const every =
  (ms: number, bytes: string, head?: string): Behave =>
  ({ socket }) => {
    if (head !== undefined) socket.write(head);
    const drip = setInterval(() => socket.write(bytes), ms);
    socket.once("close", () => clearInterval(drip)).on("error", () => {});
  };

const endless = (_request: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(200, JSON_TYPE).write('{"content":"');
  const chunk = HOSTILE.repeat(4096);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more).on("error", () => {});
  more();
};

const ok = (rest: string): string => `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${rest}`;
const deep = `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`;
const long = JSON.stringify({ ...RIGHT.read, extra: HOSTILE.repeat(125_000), content: [HOSTILE] });
const page = `<html><h1>${HOSTILE}</h1></html>`;
const HTML = { "content-type": "text/html" };

const LOST: readonly Misbehaviour[] = (
  [
    ["hangs up at once", ({ socket }) => socket.destroy()],
    ["resets the connection", says("", "reset")],
    ["hangs up in the status line", says("HTTP/1.1 2")],
    ["hangs up in the headers", says("HTTP/1.1 200 OK\r\nContent-Type: applica")],
    ["hangs up in a body of known length", says(ok('Content-Length: 500\r\n\r\n{"content":"'))],
    ["hangs up in a chunk", says(ok('Transfer-Encoding: chunked\r\n\r\nff\r\n{"content":"'))],
    ["hangs up between chunks", says(ok('Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n'))],
    ["resets the connection in the body", says(ok("Content-Length: 500\r\n\r\n{"), "reset")],
    ["hangs up after 100 Continue", says("HTTP/1.1 100 Continue\r\n\r\n")],
    ["hangs up after 103 Early Hints", says("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n")],
  ] satisfies [string, Behave][]
).map(([what, behave]) => row(what, behave, { says: /connection.+was lost/, tries: AGAIN }));

const GARBLED: readonly Misbehaviour[] = (
  [
    ["speaks another protocol", says(`SSH-2.0-${HOSTILE}\r\n`, "none")],
    ["tells two lengths", says(ok("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"), "none")],
    [
      "tells a length and chunks",
      says(
        ok("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        "none",
      ),
    ],
    ["sends a broken chunk", says(ok(`Transfer-Encoding: chunked\r\n\r\n${HOSTILE}\r\n`), "none")],
    ["sends headers without end", every(1, `X-A: ${HOSTILE.repeat(40)}\r\n`, ok(""))],
    ["sends no UTF-8", answers(200, JSON_TYPE, Buffer.from('{"content":"\xff\xfe"}', "latin1"))],
    [
      "sends a gzip bomb that nobody asked for",
      answers(200, { ...JSON_TYPE, "content-encoding": "gzip" }, gzipSync(Buffer.alloc(5e7, 32))),
    ],
  ] satisfies [string, Behave][]
).map(([what, behave]) => row(what, behave, { says: /cannot be read/ }));

const UNEXPECTED: readonly Misbehaviour[] = (
  [
    ["3 MB of another shape", answers(200, JSON_TYPE, long)],
    ["broken JSON", answers(200, JSON_TYPE, `{"content":"${HOSTILE}`)],
    ["an empty body", answers(200, JSON_TYPE)],
    ["an answer of 204", answers(204, JSON_TYPE)],
    ["an answer of 204 with a body", says(`HTTP/1.1 204 No Content\r\n\r\n${long}`, "none")],
    ["JSON under another type", answers(200, { "content-type": "text/plain" }, long)],
    ["JSON under no type", answers(200, {}, long)],
    ["a page in place of JSON", answers(200, HTML, page)],
    ["JSON under two types", answers(200, { "content-type": ["text/html", "application/json"] })],
    ["an array for a record", (_, r) => json(r, 200, [RIGHT.read])],
    ["null", (_, r) => json(r, 200, null)],
    ["a number for a text", (_, r) => json(r, 200, { ...RIGHT.read, content: 1 })],
    ["an unknown word", (_, r) => json(r, 200, { ...RIGHT.read, visibility: HOSTILE })],
    ["a field less", (_, r) => json(r, 200, { ...RIGHT.read, content: undefined })],
    ["JSON of great depth", answers(200, JSON_TYPE, deep)],
    [
      "a right record with great depth in it",
      answers(200, JSON_TYPE, JSON.stringify(RIGHT.read).replace(/}$/, `,"more":${deep}}`)),
    ],
    ["right words and more behind them", answers(200, JSON_TYPE, `${JSON.stringify(RIGHT.read)}]`)],
  ] satisfies [string, Behave][]
).map(([what, behave]) => row(`sends ${what}`, behave, { says: /unexpected form/ }));

const redirect = (status: number): Misbehaviour =>
  row(
    `redirects with ${status}`,
    answers(status, { location: `http://127.0.0.1:9/${HOSTILE}`, ...HTML }, page),
    { says: /redirect/, uncertain: false },
  );

const later = (headers: Record<string, string>): Behave => {
  return (_request, response) => problem(response, 429, { code: "rate_limited" }, headers);
};

const echo: Behave = (_request, response) =>
  problem(response, 400, {
    code: "invalid_request",
    detail: `No such key: ${FAKE_KEY}\u202e\u001b[31m ${"x".repeat(1e6)}`,
    errors: Array.from({ length: 9999 }, () => ({ field: FAKE_KEY, code: "c", message: "m" })),
  });

/** Faults of a platform, or of a proxy in front of it. */
export const misbehaviours: readonly Misbehaviour[] = [
  ...LOST,
  ...GARBLED,
  ...UNEXPECTED,
  ...[301, 302, 303, 307, 308].map(redirect),
  row("never stops sending", endless, { says: /too large/ }),
  ...[502, 504].map((status) =>
    row(`answers ${status} with a page`, answers(status, HTML, page), {
      says: new RegExp(`${status}`),
      tries: AGAIN,
    }),
  ),
  row("answers 503 with a page", answers(503, HTML, page), {
    says: /503/,
    tries: AGAIN,
    uncertain: false,
  }),
  row("answers 500 with a page", answers(500, HTML, page), { says: /500/ }),
  row("answers 404 with a page", answers(404, HTML, page), { says: /404/, uncertain: false }),
  row("answers 503 with 9 MB", answers(503, JSON_TYPE, `"${HOSTILE.repeat(375_000)}"`), {
    says: /503/,
    tries: AGAIN,
    uncertain: false,
  }),
  row("asks for a wait of an hour", later({ "retry-after": "3600" }), {
    code: "rate_limited",
    says: /429/,
    wait: 3600,
    uncertain: false,
  }),
  row(
    "asks for a wait until a date",
    later({
      date: "Fri, 20 Nov 2026 10:00:00 GMT",
      "retry-after": "Fri, 20 Nov 2026 10:10:00 GMT",
    }),
    { code: "rate_limited", says: /429/, wait: 600, uncertain: false },
  ),
  row("asks for a wait in no known words", later({ "retry-after": "5, 10" }), {
    code: "rate_limited",
    says: /429/,
    tries: AGAIN,
    uncertain: false,
  }),
  row("repeats the credential, at length", echo, {
    code: "invalid_request",
    says: /\[secret\]/,
    uncertain: false,
  }),
  ...(
    [
      ["says nothing", () => {}],
      ["stops in the headers", says("HTTP/1.1 200 OK\r\nContent-", "none")],
      ["stops in the body", says(ok('Content-Length: 500\r\n\r\n{"content":"'), "none")],
      ["sends a byte now and then", every(40, " ", ok("Content-Length: 99999\r\n\r\n"))],
      [
        "sends chunks now and then",
        every(40, "1\r\n \r\n", ok("Transfer-Encoding: chunked\r\n\r\n")),
      ],
      ["says now and then that it will", every(40, "HTTP/1.1 103 Early Hints\r\n\r\n")],
    ] satisfies [string, Behave][]
  ).map(([what, behave]) => row(what, behave, { says: /in time/, hangs: true })),
];
