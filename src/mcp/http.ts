import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  readRequestBody,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { systemClock } from "../kit/clock.ts";
import { errorFields, type Log } from "../kit/log.ts";
import type { Front } from "./needs.ts";
import { type BuildServer, createBuildServer } from "./server.ts";
import { createSessions, type SessionLimits } from "./sessions.ts";

export type HttpServer = {
  /** Answers one request to the MCP address. */
  fetch: (request: Request) => Promise<Response>;
  close(): Promise<void>;
};

export type HttpOptions = {
  /** Names without port, as Host and Origin may bear them; loopback unless told otherwise. */
  hosts?: readonly string[];
  origins?: readonly string[];
  sessions?: SessionLimits;
  /** From which hosts of 2026 that listen hear what has changed. */
  bus?: ServerEventBus;
};

const bare = (name: string): string => name.replace(/^https?:\/\//i, "").replace(/:\d+$/, "");

/** What a request says, when it is JSON that is not too long; the request itself can still be read. */
const saidIn = async (request: Request): Promise<unknown> => {
  const body = await readRequestBody(request.clone());
  if (body.tooLarge) return undefined;
  try {
    return JSON.parse(body.text);
  } catch {
    return undefined;
  }
};

// Requests of 2026 name their method in a header; only others may open a session.
const mayBegin = ({ method, headers }: Request): boolean =>
  method === "POST" && !headers.has("mcp-method");

/** MCP over HTTP: a server per request for hosts of 2026, a session for those of 2025. Pages elsewhere get 403. */
export const createDoor = (
  { build, log }: { build: BuildServer; log: Log },
  options: HttpOptions = {},
): HttpServer => {
  const handler = createMcpHandler((context) => build(context), {
    ...(options.bus === undefined ? {} : { bus: options.bus }),
    onerror: (error) => {
      log.debug("mcp.http", errorFields(error));
    },
  });
  const sessions = createSessions({ build, now: systemClock, log }, options.sessions);
  const hostNames = (options.hosts ?? localhostAllowedHostnames()).map(bare);
  const originNames = (options.origins ?? localhostAllowedOrigins()).map(bare);

  const answer = async (request: Request): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    if (id !== null) return sessions.within(id, request);
    if (!mayBegin(request)) return handler.fetch(request);
    const said = await saidIn(request);
    if (isInitializeRequest(said)) return sessions.begin(request, said);
    return handler.fetch(request, said === undefined ? {} : { parsedBody: said });
  };

  return {
    fetch: async (request) =>
      hostHeaderValidationResponse(request, hostNames) ??
      originValidationResponse(request, originNames) ??
      answer(request),
    async close() {
      await sessions.close();
      await handler.close();
    },
  };
};

/** The door of the real server. */
export const createHttp = (front: Front, options: HttpOptions = {}): HttpServer =>
  createDoor({ build: createBuildServer(front), log: front.log }, options);
