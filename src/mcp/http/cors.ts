import { type OriginCheck, toCorsHeaders, toPreflightHeaders } from "../../kit/cors.ts";
import type { RequestFacts } from "../../kit/telemetry.ts";
import { createErrorResponse } from "./responses.ts";

type Answer = (request: Request, facts: RequestFacts) => Promise<Response>;

const METHODS = "GET, POST, DELETE, OPTIONS";

/** Headers of responses that scripts need: the session, the challenge, and when to try again. */
const EXPOSED = [
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "WWW-Authenticate",
  "Retry-After",
  "X-Request-Id",
];

const refuseOrigin = (origin: string): Response =>
  createErrorResponse(
    403,
    `Invalid Origin: ${origin.slice(0, 200)}. RECEIVABLES_HTTP_ORIGINS lists the origins that are accepted.`,
  );

/**
 * Lets scripts of accepted origins call the MCP endpoint: answers preflights and adds the headers without which a browser
 * withholds a response. Other origins are refused; a request without an origin is not a script's.
 */
export const withCors =
  (isOrigin: OriginCheck, answer: Answer): Answer =>
  async (request, facts) => {
    const { headers, method } = request;
    const origin = headers.get("origin") ?? "";
    if (method === "OPTIONS" && origin === "") {
      return new Response(null, { status: 204, headers: { Allow: METHODS } });
    }
    if (origin === "") return answer(request, facts);
    if (!isOrigin(origin, headers.get("host"))) return refuseOrigin(origin);
    if (method === "OPTIONS") {
      const requested = headers.get("access-control-request-headers");
      const preflight = { Allow: METHODS, ...toPreflightHeaders(origin, METHODS, requested) };
      return new Response(null, { status: 204, headers: preflight });
    }
    const response = await answer(request, facts);
    for (const [name, value] of Object.entries(toCorsHeaders(origin, EXPOSED))) {
      response.headers.set(name, value);
    }
    return response;
  };
