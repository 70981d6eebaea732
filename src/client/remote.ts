import { Agent, errors } from "undici";
import { readBody } from "./body.ts";
import { withDeadline } from "./deadline.ts";
import { type FaultKind, TransportFault } from "./fault.ts";
import type { Transport, WireReply, WireRequest } from "./port.ts";

export type RemoteNeeds = {
  /** Where the services begin, a path in them is kept; the ingest API stands with the export service. */
  baseUrls: Record<"gateway" | "export", string>;
  requestMs: number;
  maxAnswerBytes?: number;
};

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const CONNECTIONS = 32;

const UNSENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

// Several addresses refused come as one AggregateError.
const kindOf = (error: unknown): FaultKind => {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return "timeout";
  }
  const all = error instanceof AggregateError ? error.errors : [error];
  return all.every((one) => UNSENT.has(codeOf(one))) ? "refused" : "lost";
};

const textHeaders = (
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );

const splitBase = (url: string): { origin: string; prefix: string } => {
  const { origin, pathname } = new URL(url);
  return { origin, prefix: pathname.replace(/\/+$/, "") };
};

/** A platform elsewhere. Redirects are not followed: a credential goes to the configured address alone. */
export const remoteTransport = ({
  baseUrls,
  requestMs,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: RemoteNeeds): Transport => {
  const bases = { gateway: splitBase(baseUrls.gateway), export: splitBase(baseUrls.export) };
  const agent = new Agent({
    connections: CONNECTIONS,
    allowH2: false,
    headersTimeout: requestMs,
    bodyTimeout: requestMs,
    connect: { timeout: requestMs },
  });

  const exchange = async (
    base: { origin: string; prefix: string },
    request: WireRequest,
    signal: AbortSignal,
  ): Promise<WireReply> => {
    const { method, target, headers, body } = request;
    try {
      const answer = await agent.request({
        origin: base.origin,
        path: base.prefix + target,
        method,
        headers,
        body,
        signal,
      });
      const head = { status: answer.statusCode, headers: textHeaders(answer.headers) };
      return { ...head, ...(await readBody(request, head, answer.body, maxAnswerBytes)) };
    } catch (error) {
      throw error instanceof TransportFault ? error : new TransportFault(kindOf(error), error);
    }
  };

  return {
    getWithBody: true,
    send: (request) =>
      withDeadline(requestMs, request.signal, (signal) =>
        exchange(bases[request.service === "gateway" ? "gateway" : "export"], request, signal),
      ),
    close: () => agent.destroy(),
  };
};
