import { connect } from "node:net";

const QUIET_MS = 1500;
/** Allows a connection without any response. */
export const SILENCE = 0;

/** Everything that comes back for these bytes, one letter each, until the other side ends or is quiet. */
export const exchange = async (
  port: number,
  text: string,
  { isCut = false } = {},
): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard += chunk;
  });
  // A server may end the connection before it has read everything.
  socket.on("error", () => {});
  socket.setTimeout(QUIET_MS, () => socket.destroy());
  if (isCut) socket.end(Buffer.from(text, "latin1"));
  else socket.write(Buffer.from(text, "latin1"));
  await new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  return heard;
};

export const statusesIn = (heard: string): number[] =>
  [...heard.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));

/** A server, and valid requests to it. */
export type Target = {
  host: string;
  /** A path that a GET may name, and the statuses of its answer. */
  path: string;
  answered: readonly number[];
  /** A request that succeeds with status 200. */
  post: { path: string; headers: readonly string[]; body: string };
};

export const CHUNKED = "Transfer-Encoding: chunked";

/** Builds requests to a target. */
export const requestsTo = ({ host, post }: Pick<Target, "host" | "post">) => ({
  get: (path: string, ...more: string[]): string =>
    [`GET ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...more, "", ""].join("\r\n"),
  post: (headers: string[], body: string): string =>
    [
      `POST ${post.path} HTTP/1.1`,
      `Host: ${host}`,
      "Connection: close",
      "Content-Type: application/json",
      ...post.headers,
      ...headers,
      "",
      body,
    ].join("\r\n"),
});

export type BrokenRequest = [what: string, text: string, allowed: readonly number[]];

const brokenHeads = ({ host, path, answered, ...target }: Target): BrokenRequest[] => {
  const { get } = requestsTo({ host, ...target });
  return [
    ["no HTTP", "hello\r\n\r\n", [400]],
    ["another version", `GET ${path} HTTP/3.9\r\nHost: a\r\n\r\n`, [400, 404, 505]],
    ["no host", `GET ${path} HTTP/1.1\r\n\r\n`, [400]],
    [
      "two hosts",
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: b\r\nConnection: close\r\n\r\n`,
      [...answered, 400],
    ],
    [
      "a host that is none",
      `GET ${path} HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n`,
      [400],
    ],
    ["an empty host", `GET ${path} HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n`, [400]],
    ["NUL in the path", get(`${path}\0x`), [400]],
    ["a space in the path", get(`${path} x`), [400]],
    ["bytes above ASCII in the path", get(`${path}\u00e9`), [400, 404]],
    ["a whole URL as path", get(`http://elsewhere.test${path}`), [403]],
    ["a double slash", get(`//elsewhere.test${path}`), [400, 404]],
    ["a star as path", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [400, 404]],
    [
      "TRACE",
      `TRACE ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      [...answered, 400, 404, 405],
    ],
    ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", [SILENCE]],
    [
      "an upgrade",
      get(path, "Upgrade: websocket", "Sec-WebSocket-Key: x"),
      [...answered, 400, 426],
    ],
    ["a header without a name", get(path, ": x"), [400]],
    ["a folded header", get(path, "X-A: b", " c"), [400]],
    [
      "a header with a bare line feed",
      get(path, "X-Request-Id: a\nX-Injected: b"),
      [...answered, 400],
    ],
    ["control characters in a header", get(path, "X-Request-Id: a\u0001b"), [400]],
    ["a very long header", get(path, `X-Long: ${"x".repeat(70_000)}`), [431, SILENCE]],
    ["a very long path", get(`/${"x".repeat(70_000)}`), [414, 431, SILENCE]],
    [
      "very many headers",
      get(path, ...Array.from({ length: 3000 }, (_, i) => `X-${i}: y`)),
      [...answered, 431],
    ],
    ["lines that end in a bare line feed", `GET ${path} HTTP/1.1\nHost: ${host}\n\n`, [400]],
    ["NUL in a header", get(path, "X-A: a\0b"), [400]],
  ];
};

const brokenBodies = (target: Target): BrokenRequest[] => {
  const { post } = requestsTo(target);
  const { body } = target.post;
  const length = `Content-Length: ${body.length}`;
  const size = body.length.toString(16);
  return [
    ["two lengths", post([length, "Content-Length: 3"], body), [400]],
    ["a length and chunks", post([length, CHUNKED], `${size}\r\n${body}\r\n0\r\n\r\n`), [400]],
    [
      "chunks and a length",
      post([CHUNKED, "Content-Length: 4"], `5c\r\nGET /\r\n0\r\n\r\n`),
      [400],
    ],
    ["chunks named twice", post([CHUNKED, CHUNKED], `${size}\r\n${body}\r\n0\r\n\r\n`), [400]],
    ["chunks under another name", post(["Transfer-Encoding: xchunked"], "0\r\n\r\n"), [400]],
    ["a space before the colon", post([length, "Transfer-Encoding : chunked"], body), [400]],
    ["a tab in the coding", post([length, "Transfer-Encoding:\u000bchunked"], body), [400]],
    ["two lengths in one header", post([`${length}, 3`], body), [400]],
    ["a length with a sign", post([`Content-Length: +${body.length}`], body), [400]],
    ["a hexadecimal length", post([`Content-Length: 0x${size}`], body), [400]],
    ["a chunk size of 2^64", post([CHUNKED], `10000000000000000\r\n${body}`), [400]],
    [
      "a chunk extension of 40 KiB",
      post([CHUNKED], `${size};${"x".repeat(40_960)}\r\n${body}\r\n0\r\n\r\n`),
      [400, 413],
    ],
    [
      "a trailer that names a length",
      post([CHUNKED], `${size}\r\n${body}\r\n0\r\nContent-Length: 1\r\n\r\n`),
      [200, 400],
    ],
    ["bytes that are not UTF-8 in a body", post(["Content-Length: 4"], '"\u00ff\u00c0"'), [400]],
    ["a body nested 100,000 deep", post(["Content-Length: 100000"], "[".repeat(100_000)), [400]],
    ["a negative length", post(["Content-Length: -1"], body), [400]],
    ["a length that is no number", post(["Content-Length: ten"], body), [400]],
    ["a length of 10^30", post([`Content-Length: 1${"0".repeat(30)}`], body), [400, 413]],
    ["a length above the limit", post(["Content-Length: 5000000"], body), [413]],
    ["chunks that are none", post([CHUNKED], "zz\r\nhello\r\n"), [400]],
    [
      "chunks with an unknown coding",
      post(["Transfer-Encoding: gzip, chunked"], `0\r\n\r\n`),
      [400, 415, 501],
    ],
    ["chunks as they should be", post([CHUNKED], `${size}\r\n${body}\r\n0\r\n\r\n`), [200]],
    [
      "a body that says it is compressed",
      post([length, "Content-Encoding: gzip"], body),
      [200, 400, 415],
    ],
    [
      "a second request in the body",
      post([length], `${body}GET /secret HTTP/1.1\r\n\r\n`),
      [200, 400],
    ],
    ["an expectation", post([length, "Expect: 100-continue"], body), [100, 200]],
    ["an expectation of something else", post([length, "Expect: a miracle"], body), [417]],
  ];
};

/** Malformed requests, with the statuses that may follow. */
export const brokenRequests = (target: Target): BrokenRequest[] => [
  ...brokenHeads(target),
  ...brokenBodies(target),
];
