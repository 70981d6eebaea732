import { createServer as createPlain, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import { text } from "node:stream/consumers";
import { contract } from "../../src/contract/index.ts";
import { closeNow, listen } from "./listen.ts";
import type { RemoteClient } from "./remote-client.ts";
import { json } from "./wild-server.ts";

/** The calls of the fake: a read, a PUT and a creating POST. */
export const CALLS = {
  read: { tool: "dispute_notes_get", args: { disputeId: "d-1", noteId: "n-1" } },
  put: { tool: "dispute_notes_update", args: { disputeId: "d-1", noteId: "n-1", content: "New." } },
  post: { tool: "dispute_notes_create", args: { disputeId: "d-1", content: "Made." } },
} as const;

export type Kind = keyof typeof CALLS;
export const KINDS = Object.keys(CALLS) as Kind[];

/** The only accepted credential. */
export const FAKE_KEY = "canary-key-4d1e-never-shown";

const OPERATIONS = {
  read: contract.dispute_notes.get,
  put: contract.dispute_notes.update,
  post: contract.dispute_notes.create,
};

/** Makes a call of the fake through a client. */
export const callFake = (client: RemoteClient, kind: Kind, signal?: AbortSignal) => {
  const { tool, args } = CALLS[kind];
  const options = { tool, signal, ...(kind === "post" ? { idempotencyKey: "key-1" } : {}) };
  const sent = { ...args, tenantId: "acme" };
  return client.call(OPERATIONS[kind], sent, { "x-platform-api-key": FAKE_KEY }, options);
};

const NOTES = "/dispute/v1/tenants/acme/disputes/d-1/disputenotes";
const AT = "2026-01-02T03:04:05.678Z";

const note = (content: string) => ({
  disputeNoteId: "n-1",
  tenantId: "acme",
  disputeId: "d-1",
  content,
  visibility: "Internal",
  createUser: "u",
  createDate: AT,
  updateUser: "u",
  updateDate: AT,
});

/** The correct response to each call. */
export const RIGHT = { read: note("Old."), put: note("New."), post: note("Made.") };

const ROUTES: Record<string, { kind: Kind; status: number; body: string }> = {
  [`GET ${NOTES}/n-1`]: { kind: "read", status: 200, body: "" },
  [`PUT ${NOTES}/n-1`]: { kind: "put", status: 200, body: '{"content":"New."}' },
  [`POST ${NOTES}`]: { kind: "post", status: 201, body: '{"content":"Made."}' },
};

export type Behave = (request: IncomingMessage, response: ServerResponse) => void;

export type FakePlatform = {
  url: string;
  /** Number of tries of each call, without the reads of `checks`. */
  tries: Record<Kind, number>;
  /** Returns the number of reads that an update with text began with. */
  checks(): number;
  /** The idempotency keys of creating requests. */
  keys: unknown[];
  /** Requests that no client should have sent. */
  unexpected: string[];
  /** Sets the behaviour from now on; without an argument responses are correct. */
  misbehave(behave?: Behave): void;
  /** Whether /health says that it supports idempotency keys. */
  honoursKeys(so: boolean): void;
  close(): Promise<void>;
};

const isCheck = ({ headers }: IncomingMessage, kind: Kind): boolean =>
  kind === "read" && headers["x-platform-mcp-tool"] === CALLS.put.tool;

const faultIn = (request: IncomingMessage, kind: Kind, sent: string): string | undefined => {
  const { headers } = request;
  if (headers["x-platform-api-key"] !== FAKE_KEY) return "no credential";
  if (headers["x-platform-mcp-tool"] !== CALLS[kind].tool && !isCheck(request, kind)) {
    return "the name of another tool";
  }
  if (sent !== ROUTES[routeOf(kind)]?.body) return `another body: ${sent}`;
  if (sent !== "" && headers["content-type"] !== "application/json") return "no content type";
  return (headers["idempotency-key"] === undefined) === (kind === "post") ? "key" : undefined;
};

const routeOf = (kind: Kind): string =>
  Object.keys(ROUTES).find((route) => ROUTES[route]?.kind === kind) ?? "";

/**
 * A platform of three routes on loopback that responds correctly or as badly as `misbehave` says, and records
 * unexpected requests.
 */
export const fakePlatform = async (
  tls?: Readonly<{ cert: string; key: string }>,
): Promise<FakePlatform> => {
  const tries: Record<Kind, number> = { read: 0, put: 0, post: 0 };
  let checks = 0;
  const keys: unknown[] = [];
  const unexpected: string[] = [];
  let behave: Behave | undefined;
  let idempotency = false;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await text(request);
    const asked = `${request.method} ${request.url}`;
    if (asked === "GET /health") {
      json(response, 200, { status: "ok", idempotency });
      return;
    }
    const route = ROUTES[asked];
    const fault = route === undefined ? "no route" : faultIn(request, route.kind, sent);
    if (route === undefined || fault !== undefined) {
      unexpected.push(`${asked}: ${fault}`);
      response.writeHead(501).end();
      return;
    }
    const { kind, status } = route;
    if (isCheck(request, kind)) checks += 1;
    else tries[kind] += 1;
    if (kind === "post") keys.push(request.headers["idempotency-key"]);
    if (behave === undefined) json(response, status, RIGHT[kind]);
    else behave(request, response);
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void serve(request, response).catch(() => response.destroy());
  const server = tls === undefined ? createPlain(listener) : createSecure(tls, listener);
  const scheme = tls === undefined ? "http" : "https";
  return {
    url: `${scheme}://127.0.0.1:${await listen(server)}`,
    tries,
    checks: () => checks,
    keys,
    unexpected,
    misbehave(next) {
      behave = next;
      Object.assign(tries, { read: 0, put: 0, post: 0 });
      checks = 0;
      keys.length = 0;
    },
    honoursKeys(so) {
      idempotency = so;
    },
    close: () => closeNow(server),
  };
};
