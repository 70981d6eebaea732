import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { SECOND, systemClock } from "../../kit/clock.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import type { RequestFacts } from "../../kit/telemetry.ts";
import { systemWait, waitAtMost } from "../../kit/wait.ts";
import { type BodyLimits, readBody } from "./body.ts";
import { createCallers } from "./callers.ts";
import type { CallerAuthInfo } from "../caller.ts";
import type { Gate } from "./gate.ts";
import { createListenHandler, type ListenHandler } from "./listen-handler.ts";
import { createStreamRevocation } from "./stream-revocation.ts";
import type { ServerOptions } from "../server.ts";
import { createConcurrencyLimiter, type ConcurrencyLimits } from "./concurrency-limiter.ts";
import { createScopeChecks, type ScopeChecks } from "./scopes.ts";
import { type BuildServer, createBuildServer } from "../server.ts";
import { createSessions, type SessionLimits } from "./sessions.ts";
import { createWatches } from "../resources/watches.ts";

export type HttpServer = {
  /** Answers one request to the MCP address. */
  fetch: (request: Request, facts?: RequestFacts) => Promise<Response>;
  /** Answers what is asked about the way in, at other addresses; undefined for whatever else. */
  describe: (request: Request) => Response | undefined;
  /** Refuses new requests, lets those under way end while there is time, then ends every stream and session. */
  close(): Promise<void>;
};

export type HttpOptions = {
  /** Who may come in, and as whom. */
  gate: Gate;
  /** Names without port, as Host and Origin may bear them; loopback unless told otherwise. */
  hosts?: readonly string[];
  origins?: readonly string[];
  sessions?: SessionLimits;
  body?: BodyLimits;
  room?: ConcurrencyLimits;
  /** How long a stream may outlast what its caller was let in by, in milliseconds. */
  lookEveryMs?: number;
  /** From which hosts of 2026 that listen hear what has changed. */
  bus?: ServerEventBus;
};

// Shorter than the time after which connections are cut.
const GRACE_MS = 8 * SECOND;

const bare = (name: string): string => name.replace(/^https?:\/\//i, "").replace(/:\d+$/, "");

const LISTEN = "subscriptions/listen";

/** How much work a body asks for. Answers and notices of hosts ask none; what they listen to has limits of its own. */
const workIn = (said: unknown): number =>
  [said].flat().filter((message) => isJSONRPCRequest(message) && message.method !== LISTEN).length;

// Foreign text: names of other forms are not logged.
const RPC_METHOD = /^[a-zA-Z/_]{1,64}$/;
const TOOL_NAME = /^[a-z0-9_.-]{1,64}$/;

/** Returns the method of a request or notification, and the tool that it names. */
const factsIn = (said: unknown): RequestFacts => {
  if (!isJSONRPCRequest(said) && !isJSONRPCNotification(said)) return {};
  const { method, params } = said;
  const name: unknown = method === "tools/call" ? params?.["name"] : undefined;
  return {
    ...(RPC_METHOD.test(method) ? { rpcMethod: method } : {}),
    ...(typeof name === "string" && TOOL_NAME.test(name) ? { tool: name } : {}),
  };
};

const listens = ({ headers }: Request): boolean => headers.get("mcp-method") === LISTEN;

type DoorNeeds = {
  build: BuildServer;
  demands: ScopeChecks;
  /** Where absent, hosts of 2026 that listen hear what the bus says. */
  listening?: ListenHandler;
  log: Log;
};

/** MCP over HTTP: a server per request for hosts of 2026, a session for those of 2025. Pages elsewhere get 403. */
export const createTransport = (
  { build, demands, listening, log }: DoorNeeds,
  options: HttpOptions,
): HttpServer => {
  const { gate } = options;
  const handler = createMcpHandler((context) => build(context), {
    ...(options.bus === undefined ? {} : { bus: options.bus }),
    onerror: (error) => {
      log.debug("mcp.http", errorFields(error));
    },
  });
  const sessions = createSessions({ build, now: systemClock, log }, options.sessions);
  const room = createConcurrencyLimiter(options.room);
  const leases = createStreamRevocation({ gate, now: systemClock, log }, options.lookEveryMs);
  const hostNames = (options.hosts ?? localhostAllowedHostnames()).map(bare);
  const originNames = (options.origins ?? localhostAllowedOrigins()).map(bare);

  /** Answers a request outside of sessions; only one that does not name its method in a header may open one. */
  const answer = async (
    request: Request,
    authInfo: CallerAuthInfo,
    parsedBody: unknown,
  ): Promise<Response> => {
    if (!request.headers.has("mcp-method")) {
      if (isInitializeRequest(parsedBody)) return sessions.begin(request, authInfo, parsedBody);
      const refusal = demands.byBody(parsedBody, authInfo);
      if (refusal !== undefined) return refusal;
    }
    return listening !== undefined && listens(request)
      ? listening.answer(request, authInfo, parsedBody)
      : handler.fetch(request, { authInfo, parsedBody });
  };

  const dispatch = async (
    request: Request,
    caller: CallerAuthInfo,
    said: unknown,
  ): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return answer(request, caller, said);
    return demands.byBody(said, caller) ?? sessions.within(id, request, caller, said);
  };

  const enter = async (request: Request, facts: RequestFacts): Promise<Response> => {
    const caller = await gate.admit(request);
    if (caller instanceof Response) return caller;
    facts.principal = caller.extra.caller.id;
    const refusal = demands.byHeaders(request, caller);
    if (refusal !== undefined) return refusal;
    const said = await room.read(() => readBody(request, options.body));
    if (said instanceof Response) return said;
    Object.assign(facts, factsIn(said));
    const act = () => dispatch(request, caller, said);
    const work = workIn(said);
    return work === 0
      ? leases.hold(request, caller, await act())
      : room.answer({ caller: caller.extra.caller.id, work }, act);
  };

  return {
    fetch: async (request, facts = {}) =>
      hostHeaderValidationResponse(request, hostNames) ??
      originValidationResponse(request, originNames) ??
      enter(request, facts),
    describe(request) {
      const description = gate.describe(request);
      return description && (hostHeaderValidationResponse(request, hostNames) ?? description);
    },
    async close() {
      await waitAtMost(GRACE_MS, room.close());
      leases.close();
      await sessions.close();
      await listening?.close();
      await handler.close();
    },
  };
};

/** The door of the real server. */
export const createHttpServer = (front: ServerOptions, options: HttpOptions): HttpServer => {
  const { log } = front;
  const callers = createCallers({ front, now: systemClock });
  const watches = createWatches({ now: systemClock, wait: systemWait, log });
  const subscribing = { find: callers.find, watches };
  const build = createBuildServer(front, subscribing);
  const listening = createListenHandler({ ...subscribing, build, log });
  const door = createTransport(
    { build, demands: createScopeChecks(front.settings), listening, log },
    options,
  );
  return {
    ...door,
    async close() {
      watches.close();
      await door.close();
      await callers.close();
    },
  };
};
