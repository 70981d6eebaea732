import {
  createMcpHandler,
  isInitializeRequest,
  localhostAllowedHostnames,
  type McpHttpHandler,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { Changes } from "../../kit/changes.ts";
import { SECOND, systemClock } from "../../kit/clock.ts";
import { createOriginCheck, type OriginCheck } from "../../kit/cors.ts";
import { isRecord } from "../../kit/json.ts";
import { toErrorFields, toFailureFields, type Log } from "../../kit/log.ts";
import { getRequestId } from "../../kit/request-id.ts";
import type { RequestFacts } from "../../kit/telemetry.ts";
import { systemWait, waitAtMost } from "../../kit/wait.ts";
import type { CallerAuthInfo } from "../caller.ts";
import { listRequests } from "../messages.ts";
import { followSubscriptions } from "../resources/shared-subscriptions.ts";
import { createWatches } from "../resources/watches.ts";
import { MODERN_VERSION } from "../server-info.ts";
import { type BuildServer, createBuildServer, type ServerOptions } from "../server.ts";
import { type BodyLimits, readBody } from "./body.ts";
import { createCallers } from "./callers.ts";
import {
  type ConcurrencyLimiter,
  type ConcurrencyLimits,
  createConcurrencyLimiter,
} from "./concurrency-limiter.ts";
import { withCors } from "./cors.ts";
import type { Gate } from "./gate.ts";
import { createListenHandler, type ListenHandler } from "./listen-handler.ts";
import { normalizeHeaders } from "./headers.ts";
import { answerUnderIds, readMessages } from "./message-body.ts";
import { createErrorResponse, refuseOtherHost } from "./responses.ts";
import { createScopeChecks, type ScopeChecks } from "./scopes.ts";
import {
  createSessions,
  type SessionDependencies,
  type SessionLimits,
  type Sessions,
} from "./sessions.ts";
import type { SharedSessions } from "./shared-sessions.ts";
import { createStreamRevocation, type StreamRevocation } from "./stream-revocation.ts";

export type HttpServer = {
  /** Handles a request to the MCP endpoint, and adds to `facts` for its log line. */
  fetch: (request: Request, facts?: RequestFacts) => Promise<Response>;
  /** Handles a request for authentication metadata at another path; undefined for every other request. */
  describe: (request: Request) => Response | undefined;
  /** Refuses new requests, waits for running ones for a limited time, then closes every stream and session. */
  close(): Promise<void>;
};

export type HttpOptions = {
  gate: Gate;
  /** Host names that the Host header may contain; the port is ignored. Default: loopback. */
  hosts?: readonly string[];
  /** Whether an Origin header is accepted, by scheme, name and port. Default: loopback and the server's own pages. */
  isOrigin?: OriginCheck;
  sessions?: SessionLimits;
  body?: BodyLimits;
  concurrency?: ConcurrencyLimits;
  /** Interval between checks of the tokens of open streams, in milliseconds. */
  revocationCheckMs?: number;
  /** State that the nodes behind one address share; without it each session belongs to this process. */
  shared?: { sessions: SharedSessions; changes: Changes } | undefined;
  /** Source of change notifications for hosts of 2026, if the transport has no `listen` handler. */
  bus?: ServerEventBus;
};

// Shorter than the time after which the HTTP server resets connections.
const CLOSE_TIMEOUT_MS = 8 * SECOND;
/** The part of it in which a person may still answer a question of a call. */
const ANSWER_TIMEOUT_MS = 5 * SECOND;

const LISTEN = "subscriptions/listen";

/** Returns the name in a host or origin, as the SDK compares it. */
export const toHostName = (name: string): string =>
  name
    .replace(/^https?:\/\//i, "")
    .replace(/:\d+$/, "")
    .replace(/\.$/, "")
    .toLowerCase();

/** Counts the requests in a body, except for listen requests, which have a limit of their own. */
const countRequests = (body: unknown): number =>
  listRequests(body).filter(({ method }) => method !== LISTEN).length;

// Foreign text: names of other forms are not logged.
const RPC_METHOD = /^[a-zA-Z/_]{1,64}$/;
const TOOL_NAME = /^[a-z0-9_.-]{1,64}$/;

/** Returns the method of a request or notification, and the tool that it names. */
const readFacts = (body: unknown): RequestFacts => {
  if (!isRecord(body) || typeof body["method"] !== "string") return {};
  const { method, params } = body;
  const name = method === "tools/call" && isRecord(params) ? params["name"] : undefined;
  return {
    ...(RPC_METHOD.test(method) ? { rpcMethod: method } : {}),
    ...(typeof name === "string" && TOOL_NAME.test(name) ? { tool: name } : {}),
  };
};

type TransportNeeds = {
  build: BuildServer;
  checks: ScopeChecks;
  /** Handles listen requests of hosts of 2026; without it the SDK does, from the bus. */
  listen?: ListenHandler;
  /** The tenant of an open caller, for the log. */
  tenantOf?: (callerId: string) => string | undefined;
  log: Log;
  sharing?: SessionDependencies["sharing"];
  /** Ends the questions to which calls of hosts of 2025 wait for an answer. */
  endQuestions?: () => void;
};

type Context = TransportNeeds & {
  options: HttpOptions;
  handler: McpHttpHandler;
  sessions: Sessions;
  limiter: ConcurrencyLimiter;
  revocation: StreamRevocation;
};

/** Handles a request without a session. Only a request without the Mcp-Method header may open a session. */
const handleStateless = async (
  { checks, sessions, listen, handler }: Context,
  request: Request,
  authInfo: CallerAuthInfo,
  parsedBody: unknown,
): Promise<Response> => {
  const method = request.headers.get("mcp-method");
  if (method === null && isInitializeRequest(parsedBody)) {
    return sessions.open(request, authInfo, parsedBody);
  }
  // Headers name the tool, but not the one that `call_tool` calls.
  const refusal = checks.checkBody(parsedBody, authInfo);
  if (refusal !== undefined) return refusal;
  return listen !== undefined && method === LISTEN
    ? listen.handle(request, authInfo, parsedBody)
    : handler.fetch(request, { authInfo, parsedBody });
};

const dispatch = async (
  context: Context,
  request: Request,
  authInfo: CallerAuthInfo,
  body: unknown,
): Promise<Response> => {
  const id = request.headers.get("mcp-session-id");
  // Hosts of 2026 have no sessions; one that talked to an older server may still send an id, and so may one of 2025 that
  // connects again.
  const isModern = request.headers.get("mcp-protocol-version") === MODERN_VERSION;
  const isGreeting = isRecord(body) && body["method"] === "initialize";
  if (id === null || isModern || isGreeting) {
    return handleStateless(context, request, authInfo, body);
  }
  const refusal = context.checks.checkBody(body, authInfo);
  return refusal ?? context.sessions.handle(id, request, authInfo, body);
};

/** Reads the messages of a request, or returns the response that refuses it. */
const readRequest = async (
  { limiter, options }: Context,
  request: Request,
): Promise<{ body: unknown } | { refusal: Response }> => {
  const sent = await limiter.read(() => readBody(request, options.body));
  if (sent instanceof Response) return { refusal: sent };
  return sent === undefined ? { body: undefined } : readMessages(sent);
};

/** Authenticates and limits a request before its server handles it; `onRead` gets its messages. */
const handleRequest = async (
  context: Context,
  request: Request,
  facts: RequestFacts,
  onRead: (body: unknown) => void,
): Promise<Response> => {
  const { options, checks, limiter, revocation, tenantOf } = context;
  const authInfo = await options.gate.admit(request);
  if (authInfo instanceof Response) return authInfo;
  const { id } = authInfo.extra.caller;
  facts.principal = id;
  // Read when the answer is complete, because the caller is opened while it is made.
  Object.defineProperty(facts, "tenantId", { enumerable: true, get: () => tenantOf?.(id) });
  const refusal = checks.checkHeaders(request, authInfo);
  if (refusal !== undefined) return refusal;
  const read = await readRequest(context, request);
  if ("refusal" in read) return read.refusal;
  const { body } = read;
  onRead(body);
  Object.assign(facts, readFacts(body));
  const act = () => dispatch(context, request, authInfo, body);
  const requests = countRequests(body);
  // A body without requests opens a stream at most, whose token is checked for as long as it is open.
  const response =
    requests === 0
      ? revocation.watch(request, authInfo, await act())
      : await limiter.run({ caller: id, requests }, act);
  return answerUnderIds(response, body);
};

/**
 * Handles a request. An error that no part expected is logged in one line, and answered under the id of its request
 * without its words.
 */
const handleSafely = async (
  context: Context,
  request: Request,
  facts: RequestFacts,
): Promise<Response> => {
  let read: { body: unknown } | { refusal: Response } | undefined;
  try {
    return await handleRequest(context, request, facts, (body) => {
      read = { body };
    });
  } catch (error) {
    context.log.error("mcp.failed", {
      requestId: getRequestId(),
      ...toFailureFields(error, Object.fromEntries(request.headers)),
    });
    read ??= await readRequest(context, request);
    if ("refusal" in read) return read.refusal;
    const failed = createErrorResponse(500, "Something went wrong in this server.", {
      code: -32_603,
    });
    return answerUnderIds(failed, read.body);
  }
};

const closeTransport = async (context: Context): Promise<void> => {
  const { limiter, revocation, sessions, listen, handler, endQuestions } = context;
  const isIdle = limiter.close();
  await waitAtMost(ANSWER_TIMEOUT_MS, isIdle);
  endQuestions?.();
  await waitAtMost(CLOSE_TIMEOUT_MS - ANSWER_TIMEOUT_MS, isIdle);
  revocation.close();
  await sessions.close();
  await listen?.close();
  await handler.close();
};

/** Creates Streamable HTTP: one server per request for hosts of 2026, one per session for hosts of 2025. */
export const createTransport = (needs: TransportNeeds, options: HttpOptions): HttpServer => {
  const { build, log, sharing } = needs;
  const { gate, bus } = options;
  const context: Context = {
    ...needs,
    options,
    handler: createMcpHandler(build, {
      ...(bus === undefined ? {} : { bus }),
      onerror: (error) => log.debug("mcp.http", toErrorFields(error)),
    }),
    sessions: createSessions({ build, now: systemClock, log, sharing }, options.sessions),
    limiter: createConcurrencyLimiter(options.concurrency),
    revocation: createStreamRevocation({ gate, now: systemClock, log }, options.revocationCheckMs),
  };
  const hosts = (options.hosts ?? localhostAllowedHostnames()).map(toHostName);
  const answer = withCors(options.isOrigin ?? createOriginCheck([]), (request, facts) =>
    handleSafely(context, request, facts),
  );
  return {
    fetch: async (request, facts = {}) =>
      refuseOtherHost(request, hosts) ?? answer(normalizeHeaders(request), facts),
    describe(request) {
      const metadata = gate.describe(request);
      return metadata && (refuseOtherHost(request, hosts) ?? metadata);
    },
    close: () => closeTransport(context),
  };
};

/** Creates the MCP server over HTTP. */
export const createHttpServer = (
  serverOptions: ServerOptions,
  options: HttpOptions,
): HttpServer => {
  const { log, settings } = serverOptions;
  const ending = new AbortController();
  const open: ServerOptions["open"] = async (caller) => ({
    ...(await serverOptions.open(caller)),
    ending: ending.signal,
  });
  const { sessions: shared, changes } = options.shared ?? {};
  const callers = createCallers({
    serverOptions: { ...serverOptions, open },
    now: systemClock,
    changes,
  });
  const watches = createWatches({ now: systemClock, wait: systemWait, log, changes });
  const subscriptions = { find: callers.find, rights: callers.rights, watches, shared };
  const sharing: SessionDependencies["sharing"] = shared && {
    shared,
    follow: (session, authInfo, notify) =>
      followSubscriptions(
        { ...subscriptions, shared, log },
        session,
        { http: { authInfo } },
        notify,
      ),
  };
  const build = createBuildServer(serverOptions, subscriptions);
  const listen = createListenHandler({ ...subscriptions, build, log });
  const checks = createScopeChecks(settings);
  const { tenantOf } = callers;
  const endQuestions = () => ending.abort();
  const parts = { build, checks, listen, tenantOf, log, sharing, endQuestions };
  const transport = createTransport(parts, options);
  return {
    ...transport,
    async close() {
      watches.close();
      await transport.close();
      await callers.close();
    },
  };
};
