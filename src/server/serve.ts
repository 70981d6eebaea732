import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { isIPv6, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import { MINUTE, SECOND } from "../kit/clock.ts";
import { createLog, toErrorFields } from "../kit/log.ts";
import { findHostName } from "../kit/network.ts";
import { textBefore } from "../kit/text.ts";
import { asksForPage } from "../pages/other-host.ts";
import { type Page, renderPage } from "../pages/page.ts";
import { createDraining } from "./drain.ts";
import {
  type AnswerFailure,
  callListener,
  failedMessage,
  failedRequest,
  logFailure,
} from "./failures.ts";
import { factsOf } from "./observe.ts";
import type { HttpServer } from "../mcp/http/http-server.ts";
import type { Platform } from "../platform/platform.ts";

export type Address = { host: string; port: number };

export type Served = {
  /** The server's address on this machine. */
  url: string;
  /** Lets balancers notice that the server ends, and accepts no more connections. */
  drain(): Promise<void>;
  /** Accepts no more requests, finishes running ones, and resets connections that take too long. */
  close(): Promise<void>;
};

const errorLog = createLog("error");

// Longer than proxies keep a connection to a server open, so that they end it and no request meets its end.
const KEEP_ALIVE_MS = 75 * SECOND;
const GRACE_MS = 10 * SECOND;
const GONE_EVERY_MS = 100;

/** Limits in milliseconds for receiving a request's headers and the whole request. */
export type Timeouts = { headersMs: number; requestMs: number; lookEveryMs: number };

// Uploads of many megabytes may come over slow connections; requests to the MCP endpoint have a shorter limit.
const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: 15 * SECOND,
  requestMs: 5 * MINUTE,
  lookEveryMs: 5 * SECOND,
};

const WILDCARDS: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

const formatUrl = ({ address, port }: AddressInfo): string => {
  const host = WILDCARDS[address] ?? address;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
};

/** The time for a client to finish sending and to read why its request was refused. */
const DISCARD_MS = 2 * SECOND;

type Reason = readonly [status: number, text: string];

/** The statuses with which Node.js itself answers bytes that are no request, and what to do. */
const REASONS: Readonly<Record<string, Reason>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    `The path and the headers have more than ${maxHeaderSize} bytes together. Shorten them.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    413,
    "The extensions of a chunk are too long. Send the body without them.",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time. Send it again, faster."],
};
const NO_REQUEST: Reason = [400, "This is no valid HTTP/1.1 request. Correct its first lines."];

/**
 * Answers bytes that are no request, such as a head of more than 16 KiB, and ends the connection. What the client goes
 * on sending is read and discarded for a while: closing a connection with unread bytes resets it, and a client that is
 * still sending would lose the answer.
 */
const refuseMalformed = (error: NodeJS.ErrnoException, socket: Duplex, isAnswering: boolean) => {
  if (!socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const [status, text] = REASONS[error.code ?? ""] ?? NO_REQUEST;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${text.length + 1}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}\n`);
  // In place of the parser, which has stopped at the error.
  socket.removeAllListeners("data").on("data", () => {});
  const cut = setTimeout(() => socket.destroy(), DISCARD_MS);
  socket.once("close", () => clearTimeout(cut));
};

const REFUSAL = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };

const HOST = "host";

/** Of balancers; HAProxy asks for `/` by default. */
const PROBES = ["/", "/health", "/ready"];

/**
 * Adds the Host that probes of HTTP/1.0 leave out (RFC 9112, section 3.2); other requests without one are refused. A
 * colon without a port, which RFC 3986, section 3.2.3, allows, is dropped.
 */
const repairHost = (request: IncomingMessage): IncomingMessage => {
  const { headers, httpVersion } = request;
  const path = textBefore(request.url ?? "/", "?#");
  if (headers.host !== undefined) headers.host = headers.host.replace(/:$/, "");
  else if (httpVersion === "1.0" && PROBES.includes(path)) {
    headers.host = "localhost";
    request.rawHeaders.push("Host", "localhost");
  }
  return request;
};

/** Whether a request has several Host headers, or none in HTTP/1.1 (RFC 9112, section 3.2). */
const hasWrongHost = ({ rawHeaders, httpVersion }: IncomingMessage): boolean => {
  let count = 0;
  // Names and values in turn. `headersDistinct` would copy all headers of each request.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === HOST.length && name.toLowerCase() === HOST) count += 1;
  }
  return count > 1 || (count === 0 && httpVersion !== "1.0");
};

const refusePlainly = (response: ServerResponse, status: number, reason: string): void => {
  response.writeHead(status, { ...REFUSAL, Connection: "close" }).end(`${reason}\n`);
};

/**
 * What a URL or a proxy drops or reads as another path: backslashes, tabs and line ends; encoded letters and digits (RFC
 * 3986, section 6.2.2.2); dot segments, also encoded ones and between encoded slashes.
 */
const REWRITTEN =
  /[\\\t\n\r]|%(?:3[0-9]|[46][1-9a-f]|[57][0-9a])|(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?:\/|%2f|%5c|$)/i;

const OTHER_TARGET: Reason = [
  403,
  "The request names another scheme or host in its target than in Host.",
];
const CHANGED_PATH: Reason = [
  400,
  "The path must not contain . or .. segments, encoded letters or digits, backslashes, tabs or #.",
];

/**
 * Refuses requests whose path would be read as that of another request, such as `/dry-run/../disputes`: rules of
 * proxies, limits and the dry run hold for the path as it is sent. A target may name a host where Host names the same
 * (RFC 9112, section 3.2.2).
 */
const onlyPlainTargets =
  (listener: RequestListener): RequestListener =>
  (request, response) => {
    if (hasWrongHost(request)) {
      return refusePlainly(response, 400, "A request must have one header Host.");
    }
    const { url: target = "/", headers } = request;
    const absolute = target.startsWith("/") ? null : URL.parse(target);
    const isOther =
      absolute !== null &&
      (absolute.protocol !== "http:" ||
        absolute.host !== URL.parse(`http://${headers.host}`)?.host);
    if (!isOther && !target.includes("#") && !REWRITTEN.test(textBefore(target, "?"))) {
      if (absolute !== null) request.url = `${absolute.pathname}${absolute.search}`;
      return listener(request, response);
    }
    const [status, reason] = isOther ? OTHER_TARGET : CHANGED_PATH;
    refusePlainly(response, status, reason);
  };

/** Resolves when the server listens. */
const listen = (server: Server, { host, port }: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    // The look-up of a name fails with a system call of its own.
    const fail = (error: Error): void => reject(Object.assign(error, { syscall: "listen" }));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      // For example no file descriptor for a further connection; open ones continue.
      server.on("error", (error) => errorLog.error("http.server_failed", toErrorFields(error)));
      resolve();
    });
  });

/** Serves one listener until it is closed. */
export const serve = async (
  listener: RequestListener,
  address: Address,
  { headersMs, requestMs, lookEveryMs }: Timeouts = DEFAULT_TIMEOUTS,
): Promise<Served> => {
  const draining = createDraining(onlyPlainTargets(listener));
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: lookEveryMs,
      // Node.js refuses a request without one, but does not say why.
      requireHostHeader: false,
    },
    (request, response) => void callListener(draining.listener, repairHost(request), response),
  );
  server.on("checkExpectation", (_request, response) =>
    refusePlainly(response, 417, "The only expectation that is met is 100-continue."),
  );
  server.on("clientError", (error, socket) =>
    refuseMalformed(error, socket, draining.isAnswering(socket)),
  );
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const closed = new Promise((resolve) => {
    server.once("close", resolve);
  });
  await listen(server, address);
  return {
    url: formatUrl(server.address() as AddressInfo),
    drain: () => draining.drain(server),
    async close() {
      const cut = setTimeout(() => {
        server.closeAllConnections();
      }, GRACE_MS);
      // Without this, a connection would stay open for a next request.
      const gone = setInterval(() => {
        server.closeIdleConnections();
        // Browsers and HTTP clients open connections in advance. Node.js waits for the first request of each.
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, GONE_EVERY_MS);
      server.close();
      await closed;
      clearTimeout(cut);
      clearInterval(gone);
    },
  };
};

/** Handles a request; `outgoing` is its response. */
type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Creates a Node.js listener over a handler of requests; `answerFailure` answers those whose handler failed. */
const createFetchListener = (fetch: Fetch, answerFailure: AnswerFailure): RequestListener =>
  getRequestListener(
    async (request, env) => {
      try {
        return await fetch(request, env as HttpBindings);
      } catch (error) {
        logFailure(error, Object.fromEntries(request.headers));
        return answerFailure("internal");
      }
    },
    {
      errorHandler(error) {
        if (error instanceof RequestError) return answerFailure("invalid_request");
        logFailure(error);
        return answerFailure("internal");
      },
    },
  );

/** Creates a Node.js listener over the platform. It passes the Node.js message on, for a GET with a body. */
export const createPlatformListener = (platform: Pick<Platform, "fetch">): RequestListener =>
  createFetchListener((request, env) => platform.fetch(request, env), failedRequest);

/**
 * Refuses requests that name another host: a page of another site can send them from a person's browser after its own
 * name was pointed at this server (DNS rebinding). Requests without a name come from no browser.
 */
export const onlyForHosts = (
  hosts: readonly string[],
  listener: RequestListener,
  /** The page for a person whose browser is refused; without it the refusal is a line of text. */
  pageFor?: (host: string) => Page,
): RequestListener => {
  const known = new Set(hosts.map(findHostName));
  return (request, response) => {
    const { method, headers } = request;
    const { host, accept } = headers;
    if (host === undefined || known.has(findHostName(host))) return listener(request, response);
    if (pageFor !== undefined && asksForPage(method, accept)) {
      const { status, headers: pageHeaders, body } = renderPage(pageFor(host));
      response.writeHead(status, pageHeaders).end(body);
      return;
    }
    response.writeHead(403, REFUSAL).end("This server does not have the name in Host.\n");
  };
};

/** The names of this machine itself. */
export const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Creates a Node.js listener over a part of the MCP server. */
export const createMcpListener = (
  mcp: Pick<HttpServer, "fetch">,
  answerFailure: AnswerFailure = failedMessage,
): RequestListener =>
  createFetchListener(async (request, { outgoing }) => {
    const response = await mcp.fetch(request, factsOf(outgoing));
    // Of the SDK's streams: whether a connection stays open is the HTTP server's to say. The stream of a GET ends when
    // the server stops, and a proxy would then use its connection for the next request.
    if (response.headers.get("connection") === "keep-alive") {
      if (request.method === "GET") response.headers.set("connection", "close");
      else response.headers.delete("connection");
    }
    return response;
  }, answerFailure);
