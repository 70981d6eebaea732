import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { randomToken } from "../../kit/ids.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import type { Admitted, Caller } from "../caller.ts";
import { refused } from "./refused.ts";
import type { BuildServer } from "../server.ts";
import { untilSent } from "./until-sent.ts";

/** How many hosts of the protocol of 2025 are kept in mind, and for how long without a word from them. */
export type SessionLimits = { most: number; idleMs: number };

export const SESSION_LIMITS: SessionLimits = { most: 1000, idleMs: 30 * MINUTE };

type Session = {
  /** The caller who opened it and their program; for every other it does not exist. */
  caller: string;
  client: string;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Requests and streams that are still open: such a session is not idle, however old. */
  open: number;
  usedAt: number;
};

export type Sessions = {
  /** Answers a request that opens a session; its body has been read. */
  begin(request: Request, by: Admitted, body: unknown): Promise<Response>;
  /**
   * Answers a request within a session; `body` where it has been read. A session that is not known, or is somebody
   * else's, gets 404, upon which hosts begin anew.
   */
  within(id: string, request: Request, by: Admitted, body?: unknown): Promise<Response>;
  count(): number;
  /** Ends those that have been idle too long; it happens each minute by itself. */
  sweep(): Promise<void>;
  close(): Promise<void>;
};

const RETRY_SECONDS = 30;

/** Sessions for hosts of 2025, which can be asked and told things only within one. */
export const createSessions = (
  { build, now, log }: { build: BuildServer; now: Clock; log: Log },
  { most, idleMs }: SessionLimits = SESSION_LIMITS,
): Sessions => {
  const sessions = new Map<string, Session>();

  /** Of whoever has the most, the one that is idle the longest: nobody pushes out others by having many. */
  const dispensable = (before: number, beginner?: string): Session | undefined => {
    const counts = new Map(beginner === undefined ? [] : [[beginner, 1]]);
    for (const { caller } of sessions.values()) counts.set(caller, (counts.get(caller) ?? 0) + 1);
    const countOf = ({ caller }: Session): number => counts.get(caller) ?? 0;
    return [...sessions.values()]
      .filter(({ open, usedAt }) => open === 0 && usedAt <= before)
      .toSorted((one, other) => countOf(other) - countOf(one) || one.usedAt - other.usedAt)[0];
  };

  const evict = async (before: number, beginner?: string): Promise<boolean> => {
    const session = dispensable(before, beginner);
    await session?.transport.close();
    return session !== undefined;
  };

  const sweep = async (): Promise<void> => {
    // oxlint-disable-next-line no-await-in-loop -- each closes one, until none is idle
    while (await evict(now() - idleMs));
  };
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => log.warn("mcp.sessions", errorFields(error)));
  }, MINUTE).unref();

  const answer = async (
    session: Session,
    request: Request,
    authInfo: Admitted,
    parsedBody?: unknown,
  ) => {
    session.open += 1;
    session.usedAt = now();
    const ended = (): void => {
      session.open -= 1;
      session.usedAt = now();
    };
    try {
      const { transport } = session;
      const options = { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) };
      return untilSent(await transport.handleRequest(request, options), ended);
    } catch (error) {
      ended();
      throw error;
    }
  };

  const open = async ({ id: caller, client }: Caller): Promise<Session> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomToken,
      onsessioninitialized: (id) => {
        sessions.set(id, session);
      },
    });
    const session: Session = { caller, client, transport, open: 0, usedAt: now() };
    await build().connect(transport);
    // The server has put its own ear on the transport; it is kept.
    const ended = transport.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    transport.onclose = () => {
      sessions.delete(transport.sessionId ?? "");
      ended?.();
    };
    return session;
  };

  return {
    async begin(request, by, body) {
      const { id } = by.extra.caller;
      if (sessions.size >= most && !(await evict(now(), id))) {
        return refused(
          503,
          { code: -32_000, message: "Too many sessions are open; try again later." },
          { "Retry-After": String(RETRY_SECONDS) },
        );
      }
      const session = await open(by.extra.caller);
      const response = await answer(session, request, by, body);
      // What did not open a session leaves nothing behind.
      if (session.transport.sessionId === undefined) await session.transport.close();
      return response;
    },
    async within(id, request, by, body) {
      const session = sessions.get(id);
      const { caller, client } = session ?? {};
      if (
        session === undefined ||
        caller !== by.extra.caller.id ||
        client !== by.extra.caller.client
      ) {
        return refused(404, { code: -32_001, message: "Session not found" });
      }
      return answer(session, request, by, body);
    },
    count: () => sessions.size,
    sweep,
    async close() {
      clearInterval(timer);
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
};
