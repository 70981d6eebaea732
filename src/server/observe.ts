import type { IncomingMessage, RequestListener } from "node:http";
import { randomId } from "../kit/ids.ts";
import { withRequestId } from "../kit/request-id.ts";
import type { ReportRequest, RequestFacts } from "../kit/telemetry.ts";
import { keepSpan, type Span, traced } from "../kit/tracing.ts";
import { callListener } from "./failures.ts";

const REQUEST_ID = /^[A-Za-z0-9_-]{1,128}$/;

// The status by which nginx logs a client that left before it got an answer.
const CLIENT_LEFT = 499;

const facts = new WeakMap<object, RequestFacts>();

/** Returns what is known about the request of a response; handlers add to it. */
export const factsOf = (response: object): RequestFacts => {
  const known = facts.get(response) ?? {};
  facts.set(response, known);
  return known;
};

const requestIdOf = ({ headers }: IncomingMessage): string => {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && REQUEST_ID.test(sent) ? sent : randomId();
};

/** Calls a listener, and reports the request of the MCP server when its response is complete or cut. */
export const observe = (
  report: ReportRequest,
  route: string | ((request: IncomingMessage) => string),
  listener: RequestListener,
): RequestListener => {
  const routeOf = typeof route === "string" ? () => route : route;
  return (request, response) => {
    const began = performance.now();
    const { method = "", socket } = request;
    const before = socket.bytesWritten;
    const requestId = requestIdOf(request);
    response.setHeader("X-Request-Id", requestId);
    const answer = (span: Span): Promise<void> =>
      new Promise((resolve) => {
        const finish = keepSpan(() => {
          const status = response.headersSent ? response.statusCode : CLIENT_LEFT;
          const ms = performance.now() - began;
          const bytes = socket.bytesWritten - before;
          const facts = factsOf(response);
          report({
            server: "mcp",
            requestId,
            method,
            route: routeOf(request),
            status,
            ms,
            bytes,
            ...facts,
          });
          span.set({ "http.response.status_code": status });
          resolve();
        });
        response.once("close", finish);
        void withRequestId(requestId, () => callListener(listener, request, response));
      });
    void traced(
      () => `${method} ${routeOf(request)}`,
      () => ({
        kind: "server",
        attributes: { "http.request.method": method, "http.route": routeOf(request) },
        parent: request.headers,
      }),
      answer,
    );
  };
};
