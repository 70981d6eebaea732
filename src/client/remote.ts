import { Agent, errors } from "undici";
import { readBody } from "./body.ts";
import { endOf } from "./deadline.ts";
import { codeOf, type FaultKind, TransportFault } from "./fault.ts";
import type { Transport, WireReply, WireRequest } from "./port.ts";

export type RemoteNeeds = {
  /** Where the services begin, a path in them is kept; the ingest API stands with the export service. */
  baseUrls: Record<"gateway" | "export", string>;
  requestMs: number;
  maxAnswerBytes?: number;
};

/** A page of a thousand records has room many times over. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const CONNECTIONS = 32;

const KINDS: readonly (readonly [RegExp, FaultKind])[] = [
  [/^ENOTFOUND$/, "unknown_host"],
  [/^(EAI_\w+|ECONNREFUSED|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL)$/, "refused"],
  [/^(EACCES|EPERM|UND_ERR_CONNECT_TIMEOUT)$/, "refused"],
  [/^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|HOSTNAME_MISMATCH)/, "untrusted"],
  [/^(EPROTO|ERR_SSL_(WRONG|UNSUPPORTED|PACKET_LENGTH|NO_|TLSV1|SSLV3)\w*)$/, "untrusted"],
  [/^UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/, "garbled"],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, "timeout"],
  [/^UND_ERR_(DESTROYED|CLOSED)$/, "canceled"],
];

const kindOfCode = (error: unknown): FaultKind => {
  if (error instanceof errors.HTTPParserError) return "garbled";
  const code = codeOf(error);
  if (code === "ETIMEDOUT") {
    return error instanceof Error && "syscall" in error && error.syscall === "connect"
      ? "refused"
      : "lost";
  }
  return KINDS.find(([codes]) => codes.test(code))?.[1] ?? "lost";
};

// Several addresses that failed come as one AggregateError.
const kindOf = (error: unknown): FaultKind => {
  if (!(error instanceof AggregateError)) return kindOfCode(error);
  const kinds = new Set(error.errors.map(kindOfCode));
  const [kind = "lost"] = kinds;
  return kinds.size === 1 ? kind : "refused";
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

/**
 * A platform elsewhere, with one pool of connections for each origin. Redirects are not followed: a credential goes to
 * the configured address alone.
 */
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

  const exchange = async (request: WireRequest): Promise<WireReply> => {
    const { method, target, headers, body, signal } = request;
    const { origin, prefix } = bases[request.service === "gateway" ? "gateway" : "export"];
    const path = prefix + target;
    const answer = await agent.request({ origin, path, method, headers, body, signal });
    const head = { status: answer.statusCode, headers: textHeaders(answer.headers) };
    return { ...head, ...(await readBody(request, head, answer.body, maxAnswerBytes)) };
  };

  return {
    getWithBody: true,
    requestMs,
    async send(request) {
      try {
        return await exchange(request);
      } catch (error) {
        if (request.signal.aborted) throw endOf(request.signal);
        // What undici would not even send is a fault of ours.
        if (error instanceof TransportFault || error instanceof errors.InvalidArgumentError) {
          throw error;
        }
        throw new TransportFault(kindOf(error), error);
      }
    },
    close: () => agent.destroy(),
  };
};
