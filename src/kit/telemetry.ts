import type { Log } from "./log.ts";

/** The part of an answered request that only its handler knows. */
export type RequestFacts = {
  tenantId?: string | undefined;
  /** The id of the user, of the export key, or of the caller of the MCP server. */
  principal?: string | undefined;
  tool?: string | undefined;
  /** The JSON-RPC method. */
  rpcMethod?: string | undefined;
};

/** One answered HTTP request. It contains ids and counts, no content and no address. */
export type AnsweredRequest = RequestFacts & {
  server: "platform" | "mcp";
  requestId: string;
  method: string;
  /** The template of the path, such as `/disputes/{disputeId}`; `(none)` where no route matches. */
  route: string;
  status: number;
  /** Milliseconds from the request to the last byte of the answer. */
  ms: number;
  /** Bytes of the body; of an MCP response, with its headers. */
  bytes: number;
  /** The code of the problem that refused the request. */
  code?: string | undefined;
};

export type ReportRequest = (request: AnsweredRequest) => void;

export const NO_ROUTE = "(none)";

const PROBES = new Set(["/health", "/ready"]);

/** Creates the function that logs a request: at `info`, a good answer to a probe at `debug`. */
export const createReport =
  (log: Log): ReportRequest =>
  ({ ms, ...request }) => {
    const isProbe = PROBES.has(request.route) && request.status < 400;
    log[isProbe ? "debug" : "info"]("http.request", { ...request, ms: Math.round(ms * 10) / 10 });
  };
