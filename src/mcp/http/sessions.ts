import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import type { CallerAuthInfo } from "../caller.ts";
import { createErrorResponse } from "./error-response.ts";
import type { BuildServer } from "../server.ts";
import { onResponseEnd } from "./response-end.ts";

/** Limits of sessions: their number, and how long one may be idle, in milliseconds. */
export type SessionLimits = { max: number; idleMs: number };

const SESSION_LIMITS: SessionLimits = { max: 1000, idleMs: 30 * MINUTE };

type Session = {
  /** The id and client of the caller who opened the session; any other caller gets 404. */
  caller: string;
  client: string;
  transport: WebStandardStreamableHTTPServerTransport;
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
  count(): number;
  /** Closes idle sessions; also runs every minute. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

const RETRY_SECONDS = 30;

const tooManySessions = (): Response =>
  createErrorResponse(
    503,
    { code: -32_000, message: "Too many sessions are open; try again later." },
    { "Retry-After": String(RETRY_SECONDS) },
  );

/**
 * Returns the session to close: among those idle since `before`, one of the caller with the most sessions, the longest
 * idle first. A caller who opens many sessions therefore closes their own.
 */
const findEvictable = (
  sessions: readonly Session[],
  before: number,
  openingCaller?: string,
): Session | undefined => {
  const counts = new Map(openingCaller === undefined ? [] : [[openingCaller, 1]]);
  for (const { caller } of sessions) counts.set(caller, (counts.get(caller) ?? 0) + 1);
  const countSessions = ({ caller }: Session): number => counts.get(caller) ?? 0;
  return sessions
    .filter(({ open, usedAt }) => open === 0 && usedAt <= before)
    .toSorted(
      (one, other) => countSessions(other) - countSessions(one) || one.usedAt - other.usedAt,
    )[0];
};

/** Forwards a request to the session's transport, and marks the session as used until the response is sent. */
const forward = async (
  session: Session,
  now: Clock,
  request: Request,
  options: { authInfo: CallerAuthInfo; parsedBody?: unknown },
): Promise<Response> => {
  session.open += 1;
  session.usedAt = now();
  const release = (): void => {
    session.open -= 1;
    session.usedAt = now();
  };
  try {
    return onResponseEnd(await session.transport.handleRequest(request, options), release);
  } catch (error) {
    release();
    throw error;
  }
};

type SessionDependencies = { build: BuildServer; now: Clock; log: Log };

const openSession = async (
  { build, now }: SessionDependencies,
  sessions: Map<string, Session>,
  authInfo: CallerAuthInfo,
): Promise<Session> => {
  const { id: caller, client } = authInfo.extra.caller;
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomToken,
    onsessioninitialized: (id) => {
      sessions.set(id, session);
    },
  });
  const session: Session = { caller, client, transport, open: 0, usedAt: now() };
  await build({ era: "legacy", authInfo }).connect(transport);
  // The server has set its own handler, which still has to run.
  const closeServer = transport.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  transport.onclose = () => {
    sessions.delete(transport.sessionId ?? "");
    closeServer?.();
  };
  return session;
};

/** Creates the sessions of hosts of 2025, which can receive requests and notifications only within one. */
export const createSessions = (
  dependencies: SessionDependencies,
  { max, idleMs }: SessionLimits = SESSION_LIMITS,
): Sessions => {
  const { now, log } = dependencies;
  const sessions = new Map<string, Session>();

  const evict = async (before: number, openingCaller?: string): Promise<boolean> => {
    const session = findEvictable([...sessions.values()], before, openingCaller);
    await session?.transport.close();
    return session !== undefined;
  };

  const sweep = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- each round closes one session, until none is idle
    while (await evict(now() - idleMs));
  };
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => log.warn("mcp.sessions", toErrorFields(error)));
  }, MINUTE).unref();

  return {
    async open(request, authInfo, parsedBody) {
      const { caller } = authInfo.extra;
      if (sessions.size >= max && !(await evict(now(), caller.id))) return tooManySessions();
      const session = await openSession(dependencies, sessions, authInfo);
      const options = { authInfo, parsedBody };
      const response = await forward(session, now, request, options);
      // The request was refused and opened no session.
      if (session.transport.sessionId === undefined) await session.transport.close();
      return response;
    },
    async handle(id, request, authInfo, parsedBody) {
      const session = sessions.get(id);
      const { id: caller, client } = authInfo.extra.caller;
      if (session?.caller !== caller || session.client !== client) {
        return createErrorResponse(404, { code: -32_001, message: "Session not found" });
      }
      const options = { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) };
      return forward(session, now, request, options);
    },
    count: () => sessions.size,
    sweep,
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
};
