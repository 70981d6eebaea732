import type { RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { MINUTE, SECOND } from "../kit/clock.ts";
import { readyAnswer } from "../kit/readiness.ts";
import { textBefore } from "../kit/text.ts";

/** A balancer that asks `/ready` every second or two has seen the 503 several times by then. */
const NOTICE_MS = 5 * SECOND;
/** Without a question for this time, no balancer asks. */
const ASKED_WITHIN_MS = MINUTE;
/** After the listener is closed: the time without a request after which connections are idle, and the longest wait. */
const QUIET_MS = 250;
const LINGER_MS = 4 * SECOND;
const LOOK_EVERY_MS = 50;
const SHORT_TURN_MS = 0.5;

const STOPPING = readyAnswer({
  ok: false,
  parts: { process: { ok: false, reason: "shutting down" } },
});

const refuseReady = (response: ServerResponse): void => {
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };
  response.writeHead(STOPPING.status, headers).end(JSON.stringify(STOPPING.body));
};

/**
 * Accepts the connections in the listener's queue: closing the listener would reset them. Each turn of the event loop
 * accepts one, and further ones may arrive during a long turn.
 */
const acceptWaiting = async (server: Server): Promise<void> => {
  const until = performance.now() + LINGER_MS;
  let accepted = false;
  const note = (): void => void (accepted = true);
  server.on("connection", note);
  for (let now = performance.now(); now < until; now = performance.now()) {
    accepted = false;
    await setImmediate();
    if (!accepted && performance.now() - now < SHORT_TURN_MS) break;
  }
  server.off("connection", note);
};

/**
 * Closes the connection of a running response with its end, also if headers that promise more requests are sent. It is
 * closed in the same turn: a proxy would send the next request as soon as it has read the end.
 */
const endConnectionAfter = (response: ServerResponse): void => {
  const { socket } = response;
  response.shouldKeepAlive = false;
  response.once("prefinish", () => {
    if (socket?.writableLength === 0) socket.destroy();
    else socket?.destroySoon();
  });
};

export type Draining = {
  listener: RequestListener;
  /** Whether a part of a response has gone through this connection, and the rest has not. */
  isAnswering(socket: Duplex): boolean;
  /**
   * Takes a server out of use without losing a request: first `/ready` answers 503, then the server accepts no further
   * connection, then each open connection ends with its next response. A proxy that sends a request through a connection
   * while it is being closed could not tell whether the request was handled, so connections that are in use stay open.
   */
  drain(server: Server): Promise<void>;
};

/** Wraps a listener, so that its server can be drained. */
export const createDraining = (inner: RequestListener): Draining => {
  const running = new Set<ServerResponse>();
  let state: "open" | "noticed" | "last" = "open";
  let askedAt = -Infinity;
  let requestAt = -Infinity;
  let isBehindProxy = false;

  const listener: RequestListener = (request, response) => {
    requestAt = performance.now();
    isBehindProxy ||= request.headers["x-forwarded-for"] !== undefined;
    running.add(response);
    response.once("close", () => running.delete(response));
    response.shouldKeepAlive &&= state !== "last";
    if (textBefore(request.url ?? "/", "?#") === "/ready") {
      askedAt = requestAt;
      if (state !== "open") return refuseReady(response);
    }
    return inner(request, response);
  };

  return {
    listener,
    isAnswering: (socket) =>
      [...running].some((response) => response.socket === socket && response.headersSent),
    async drain(server) {
      state = "noticed";
      if (performance.now() - askedAt < ASKED_WITHIN_MS) await delay(NOTICE_MS);
      state = "last";
      for (const response of running) endConnectionAfter(response);
      await acceptWaiting(server);
      // The method of the HTTP server would close connections that are idle at this moment.
      NetServer.prototype.close.call(server);
      const began = performance.now();
      const isQuiet = (): boolean =>
        performance.now() - requestAt >= QUIET_MS &&
        [...running].every(({ headersSent }) => headersSent);
      const countConnections = promisify(server.getConnections.bind(server));
      // A proxy would send a request into a connection while it is being closed, and could not repeat it.
      const hasIdleOfProxy = async (): Promise<boolean> =>
        isBehindProxy && (await countConnections()) > running.size;
      // After a pause of the process, timers run before the requests that arrived in it are read.
      const waitForArrived = (): Promise<void> => setImmediate();
      await waitForArrived();
      while (performance.now() - began < LINGER_MS && (!isQuiet() || (await hasIdleOfProxy()))) {
        await delay(LOOK_EVERY_MS).then(waitForArrived);
      }
    },
  };
};
