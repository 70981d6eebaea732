import {
  type InitializeRequest,
  isInitializeRequest,
  type JSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { canShowViews, VIEWS_SUPPORT } from "../../views/views.ts";
import type { CallerAuthInfo } from "../caller.ts";
import { listRequestIds } from "../messages.ts";
import { createErrorResponse, isEventStream, onResponseEnd } from "./responses.ts";
import type { BuildServer } from "../server.ts";
import {
  type SessionRecord,
  type SharedSessions,
  shareTransport,
  type SharedTransport,
} from "./shared-sessions.ts";

/** Limits of sessions: their number, and how long one may be idle, in milliseconds. */
export type SessionLimits = { max: number; idleMs: number };

const SESSION_LIMITS: SessionLimits = { max: 1000, idleMs: 30 * MINUTE };

type Session = {
  /** The id and client of the caller who opened the session; any other caller gets 404. */
  caller: string;
  client: string;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Exchanges messages with the nodes that have the same session; absent where sessions are not shared. */
  sharing: SharedTransport | undefined;
  /** The ids of requests in progress: the transport finds the stream of an answer by them. */
  running: Set<unknown>;
  /** Open requests and streams. A session that has any is not idle. */
  open: number;
  usedAt: number;
};

export type Sessions = {
  /** Handles a request that opens a session. */
  open(request: Request, authInfo: CallerAuthInfo, parsedBody: unknown): Promise<Response>;
  /** Handles a request within a session. An unknown session, or another caller's, gets 404: hosts then open a new one. */
  handle(
    id: string,
    request: Request,
    authInfo: CallerAuthInfo,
    parsedBody?: unknown,
  ): Promise<Response>;
  /** Returns the number of sessions that this process has in memory. */
  count(): number;
  /** Closes idle sessions; also runs every minute. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

/** Sends the changes of subscribed resources to a session as long as its stream is open. Call the result to stop. */
export type FollowSubscriptions = (
  session: string,
  authInfo: CallerAuthInfo,
  notify: (uri: string) => void,
) => () => void;

export type SessionDependencies = {
  build: BuildServer;
  now: Clock;
  log: Log;
  /** Sessions that other nodes continue; without it a session belongs to this process. */
  sharing?: { shared: SharedSessions; follow: FollowSubscriptions } | undefined;
};

const RETRY_SECONDS = 30;

const tooManySessions = (): Response =>
  createErrorResponse(503, "Too many sessions are open; try again later.", {
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });

const unavailable = (): Response =>
  createErrorResponse(503, "Sessions cannot be read now; try again in a second.", {
    headers: { "Retry-After": "1" },
  });

const repeatedId = (): Response =>
  createErrorResponse(
    400,
    "A request with this id is still running; give each request its own id.",
    {
      code: -32_600,
    },
  );

const isStreamRequest = ({ method, headers }: Request): boolean =>
  method === "GET" && headers.get("accept")?.includes("text/event-stream") === true;

const notFound = (): Response => createErrorResponse(404, "Session not found", { code: -32_001 });

/**
 * Returns the session to close: among those idle since `before`, one of the caller with the most sessions, the longest
 * idle first. A caller who opens many sessions therefore closes their own. For a caller with fewer sessions, one in use
 * may be closed too: with a stream in each, one caller could otherwise keep all others out.
 */
const findEvictable = (
  sessions: readonly Session[],
  before: number,
  openingCaller?: string,
): Session | undefined => {
  const counts = new Map(openingCaller === undefined ? [] : [[openingCaller, 1]]);
  for (const { caller } of sessions) counts.set(caller, (counts.get(caller) ?? 0) + 1);
  const countSessions = ({ caller }: Session): number => counts.get(caller) ?? 0;
  const own = counts.get(openingCaller ?? "") ?? Infinity;
  return sessions
    .filter((one) => (one.open === 0 ? one.usedAt <= before : countSessions(one) > own))
    .toSorted(
      (one, other) =>
        countSessions(other) - countSessions(one) ||
        Math.min(one.open, 1) - Math.min(other.open, 1) ||
        one.usedAt - other.usedAt,
    )[0];
};

/** Forwards a request to the session's transport, and marks the session as used until the response is sent. */
const forward = async (
  session: Session,
  now: Clock,
  request: Request,
  options: { authInfo?: CallerAuthInfo; parsedBody?: unknown },
): Promise<Response> => {
  const ids = listRequestIds(options.parsedBody);
  if (ids.some((id) => session.running.has(id))) return repeatedId();
  // The stream of a host that has slept may never end by itself.
  if (isStreamRequest(request)) session.transport.closeStandaloneSSEStream();
  session.open += 1;
  session.usedAt = now();
  for (const id of ids) session.running.add(id);
  const release = (): void => {
    session.open -= 1;
    session.usedAt = now();
    for (const id of ids) session.running.delete(id);
  };
  try {
    return onResponseEnd(await session.transport.handleRequest(request, options), release);
  } catch (error) {
    release();
    throw error;
  }
};

const createSession = async (
  { build, now, sharing }: SessionDependencies,
  sessions: Map<string, Session>,
  authInfo: CallerAuthInfo,
  newSessionId: () => string = randomToken,
): Promise<Session> => {
  const { id: caller, client } = authInfo.extra.caller;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: newSessionId,
    onsessioninitialized: (id) => {
      sessions.set(id, session);
    },
  });
  const own = sharing && {
    shared: sharing.shared,
    session: () => transport.sessionId ?? "",
  };
  const session: Session = {
    caller,
    client,
    transport,
    sharing: own && shareTransport(transport, own),
    running: new Set(),
    open: 0,
    usedAt: now(),
  };
  await build({ era: "legacy", authInfo }).connect(transport);
  // The server has set its own handler, which still has to run.
  const closeServer = transport.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  transport.onclose = () => {
    sessions.delete(transport.sessionId ?? "");
    session.sharing?.close();
    closeServer?.();
  };
  return session;
};

type Initialize = InitializeRequest["params"];

/** Longer names of hosts are cut: a session keeps them as long as it is open. */
const MAX_HOST_NAME = 255;

/** The parameters that servers read: who the host is, how it can ask its person, and whether it shows views. */
const pickInitialize = ({
  protocolVersion,
  capabilities,
  clientInfo: { name, version },
}: Initialize): Initialize => {
  const { elicitation } = capabilities;
  const modes = (["form", "url"] as const).filter((mode) => elicitation?.[mode] !== undefined);
  return {
    protocolVersion,
    capabilities: {
      ...(elicitation === undefined
        ? {}
        : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) }),
      ...(canShowViews(capabilities) ? { extensions: VIEWS_SUPPORT } : {}),
    },
    clientInfo: { name: name.slice(0, MAX_HOST_NAME), version: version.slice(0, MAX_HOST_NAME) },
  };
};

/** Returns an `initialize` request with the parameters that servers read; any other body as it is. */
const pickBody = (body: unknown): unknown =>
  isInitializeRequest(body) ? { ...body, params: pickInitialize(body.params) } : body;

/** Continues a session of another node: its server receives the same `initialize` again. */
const continueSession = async (
  dependencies: SessionDependencies,
  sessions: Map<string, Session>,
  { id, record, authInfo }: { id: string; record: SessionRecord; authInfo: CallerAuthInfo },
): Promise<Session> => {
  const session = await createSession(dependencies, sessions, authInfo, () => id);
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const request = new Request("http://localhost/", { method: "POST", headers });
  const { initialize: params } = record;
  const parsedBody = { jsonrpc: "2.0", id: 0, method: "initialize", params };
  await (await forward(session, dependencies.now, request, { parsedBody })).text();
  return session;
};

/** Returns the session if it is the caller's. */
type Find = (id: string, authInfo: CallerAuthInfo) => Promise<Session | undefined>;

const isOwn = (
  owner: Pick<Session, "caller" | "client"> | undefined,
  { extra: { caller } }: CallerAuthInfo,
): boolean => owner?.caller === caller.id && owner.client === caller.client;

/** Closes a session if the process has as many as it may have; false if there is none to close. */
type MakeRoom = (caller: string) => Promise<boolean>;

/** Creates the function that finds a session in this process, or continues one of another node. */
const createFind = (
  dependencies: SessionDependencies,
  sessions: Map<string, Session>,
  makeRoom: MakeRoom,
): Find => {
  const shared = dependencies.sharing?.shared;
  const opening = new Map<string, Promise<Session>>();
  const findShared = async (
    { find }: SharedSessions,
    id: string,
    authInfo: CallerAuthInfo,
  ): Promise<Session | undefined> => {
    const record = await find(id);
    if (record === undefined) await sessions.get(id)?.transport.close();
    if (record === undefined || !isOwn(record, authInfo)) return undefined;
    const known = opening.get(id) ?? sessions.get(id);
    if (known !== undefined) return known;
    if (!(await makeRoom(record.caller))) throw new Error("too many sessions are open");
    const session = continueSession(dependencies, sessions, { id, record, authInfo });
    opening.set(id, session);
    return session.finally(() => opening.delete(id));
  };
  return async (id, authInfo) => {
    if (shared !== undefined) return findShared(shared, id, authInfo);
    const session = sessions.get(id);
    return isOwn(session, authInfo) ? session : undefined;
  };
};

type Sharing = NonNullable<SessionDependencies["sharing"]>;

/** Sends notifications to a stream of a shared session until it ends; ends it with the session. */
const followSession = (
  { shared, follow }: Sharing,
  find: Find,
  { transport }: Session,
  authInfo: CallerAuthInfo,
): (() => void) => {
  const { sessionId: id = "" } = transport;
  // Finding the session extends its life; a session that another node has ended is closed here.
  const unwatch = shared.watchSession(id, () => void find(id, authInfo).catch(() => {}));
  const stop = follow(id, authInfo, (uri) => {
    const params = { uri };
    void transport.send({ jsonrpc: "2.0", method: "notifications/resources/updated", params });
  });
  return () => {
    unwatch();
    stop();
  };
};

/** Handles a request of a session that nodes share. */
const handleShared = async (
  { now, sharing, find }: { now: Clock; sharing: Sharing; find: Find },
  session: Session,
  request: Request,
  options: { authInfo: CallerAuthInfo; parsedBody?: unknown },
): Promise<Response> => {
  const { sessionId: id = "" } = session.transport;
  if (options.parsedBody !== undefined) {
    const messages = [options.parsedBody].flat() as JSONRPCMessage[];
    const own = (await session.sharing?.route(messages)) ?? messages;
    if (own.length === 0 && messages.length > 0) return new Response(null, { status: 202 });
    const parsedBody = Array.isArray(options.parsedBody) ? own : own[0];
    return forward(session, now, request, { ...options, parsedBody });
  }
  const response = await forward(session, now, request, options);
  if (request.method === "DELETE" && response.ok) await sharing.shared.end(id);
  return isEventStream(response)
    ? onResponseEnd(response, followSession(sharing, find, session, options.authInfo))
    : response;
};

/** Creates the function that stores a session for other nodes, or returns the response to a host where it cannot. */
const shareSession =
  ({ sharing, log }: SessionDependencies) =>
  async ({ transport, caller, client }: Session, body: unknown): Promise<Response | undefined> => {
    const id = transport.sessionId;
    if (sharing === undefined || id === undefined || !isInitializeRequest(body)) return undefined;
    try {
      await sharing.shared.add(id, { caller, client, initialize: body.params });
      return undefined;
    } catch (error) {
      log.warn("mcp.sessions", toErrorFields(error));
      // No other node could continue it.
      await transport.close();
      return unavailable();
    }
  };

/** Creates the sessions of hosts of 2025, which can receive requests and notifications only within one. */
export const createSessions = (
  dependencies: SessionDependencies,
  { max, idleMs }: SessionLimits = SESSION_LIMITS,
): Sessions => {
  const { now, log, sharing } = dependencies;
  const sessions = new Map<string, Session>();

  const evict = async (before: number, openingCaller?: string): Promise<boolean> => {
    const session = findEvictable([...sessions.values()], before, openingCaller);
    await session?.transport.close();
    return session !== undefined;
  };

  const makeRoom: MakeRoom = async (caller) => sessions.size < max || evict(now(), caller);
  const find = createFind(dependencies, sessions, makeRoom);

  const sweep = async (): Promise<void> => {
    // Each round closes one session.
    while (await evict(now() - idleMs));
  };
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => log.warn("mcp.sessions", toErrorFields(error)));
  }, MINUTE).unref();

  const share = shareSession(dependencies);

  return {
    async open(request, authInfo, parsedBody) {
      const { caller } = authInfo.extra;
      if (!(await makeRoom(caller.id))) return tooManySessions();
      const session = await createSession(dependencies, sessions, authInfo);
      const initialize = pickBody(parsedBody);
      const options = { authInfo, parsedBody: initialize };
      const response = await forward(session, now, request, options);
      // The request was refused and opened no session.
      if (session.transport.sessionId === undefined) await session.transport.close();
      return (await share(session, initialize)) ?? response;
    },
    async handle(id, request, authInfo, parsedBody) {
      const session = await find(id, authInfo).catch((error: unknown) => {
        log.warn("mcp.sessions", toErrorFields(error));
        return unavailable();
      });
      if (session === undefined) return notFound();
      if (session instanceof Response) return session;
      const options = { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) };
      return sharing === undefined
        ? forward(session, now, request, options)
        : handleShared({ now, sharing, find }, session, request, options);
    },
    count: () => sessions.size,
    sweep,
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
};
