import type { IncomingMessage, RequestListener } from "node:http";
import { probe } from "../client/probe.ts";
import { SECOND, systemClock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { createReadiness, NotReady, readyAnswer } from "../kit/readiness.ts";
import { NO_ROUTE } from "../kit/telemetry.ts";
import { textBefore } from "../kit/text.ts";
import type { Remote } from "../config/config.ts";

const TIMEOUT_MS = 2 * SECOND;

export const parsePath = ({ url = "/" }: IncomingMessage): string => textBefore(url, "?#");

/** Platforms without `/ready` answer 404: they can be reached, which is all that they tell. */
const checkRemote = async (baseUrl: string): Promise<void> => {
  const result = await probe(baseUrl, { clock: systemClock, timeoutMs: TIMEOUT_MS }, "/ready");
  if (!result.answers) throw new NotReady(`no answer: ${result.why}`);
  if (result.status >= 500) throw new NotReady(`answers ${result.status}`);
};

/** Returns the route of a request that an MCP server without an embedded platform answers. */
export const ownRouteOf = (request: IncomingMessage): string => {
  const path = parsePath(request);
  return path === "/health" || path === "/ready" ? path : NO_ROUTE;
};

/** Creates the routes of an MCP server without an embedded platform: `/health`, `/ready`, and 404 for the rest. */
export const createOwnRoutes = ({
  remote,
  checkStore,
  log,
}: {
  remote: Remote | undefined;
  /** Checks the database that nodes share; absent where they share none. */
  checkStore?: (() => Promise<void>) | undefined;
  log: Log;
}): RequestListener => {
  const ready = createReadiness({
    clock: systemClock,
    log,
    parts: {
      ...(checkStore === undefined ? {} : { store: checkStore }),
      async platform() {
        if (remote === undefined) throw new NotReady("the embedded platform has not started");
        await Promise.all([...new Set([remote.gateway, remote.export])].map(checkRemote));
      },
    },
  });
  const answer = async (path: string): Promise<{ status: number; body: object }> => {
    if (path === "/health") return { status: 200, body: { status: "ok" } };
    if (path === "/ready") return readyAnswer(await ready());
    const message =
      "The platform has another address; this server has /, /mcp, /health and /ready alone.";
    return { status: 404, body: { error: "not_found", message } };
  };
  return async (request, response) => {
    const { status, body } = await answer(parsePath(request));
    const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };
    response.writeHead(status, headers).end(JSON.stringify(body));
  };
};
