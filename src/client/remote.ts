import { errors } from "undici";
import { getClientAddress } from "../kit/client-address.ts";
import { readBody } from "./body.ts";
import { getAbortReason } from "./deadline.ts";
import { createDispatcher } from "./dispatcher.ts";
import { findProxyStatus, findSystemCode, type FaultKind, TransportFault } from "./fault.ts";
import type { Transport, WireReply, WireRequest } from "./port.ts";
import { findProxy, getProxies } from "../kit/proxy.ts";
import { trimEndOf } from "../kit/text.ts";

export type RemoteNeeds = {
  /** Base URLs; a path in them is kept. The ingest API shares the export service's. */
  baseUrls: Record<"gateway" | "export", string>;
  requestMs: number;
  maxAnswerBytes?: number;
};

/** Many times the size of a page of a thousand records. */
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

const findErrorKind = (error: unknown): FaultKind => {
  if (error instanceof errors.HTTPParserError) return "garbled";
  const code = findSystemCode(error);
  if (code === "ETIMEDOUT") {
    return error instanceof Error && "syscall" in error && error.syscall === "connect"
      ? "refused"
      : "lost";
  }
  return KINDS.find(([codes]) => codes.test(code))?.[1] ?? "lost";
};

// A host with several addresses that all failed yields one AggregateError.
const findFaultKind = (error: unknown): FaultKind => {
  if (!(error instanceof AggregateError)) return findErrorKind(error);
  const kinds = new Set(error.errors.map(findErrorKind));
  const [kind = "lost"] = kinds;
  return kinds.size === 1 ? kind : "refused";
};

/** Through a proxy, what these name is the proxy. */
const UNREACHABLE: ReadonlySet<FaultKind> = new Set(["refused", "unknown_host"]);

const toTextHeaders = (
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );

const splitBase = (url: string): { origin: string; prefix: string } => {
  const { origin, pathname } = new URL(url);
  return { origin, prefix: trimEndOf(pathname, "/") };
};

/**
 * Creates a transport to a remote platform with one connection pool per origin. Redirects are not followed, so that a
 * credential is sent only to the configured address.
 */
export const createRemoteTransport = ({
  baseUrls,
  requestMs,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: RemoteNeeds): Transport => {
  const bases = { gateway: splitBase(baseUrls.gateway), export: splitBase(baseUrls.export) };
  const agent = createDispatcher({
    connections: CONNECTIONS,
    allowH2: false,
    headersTimeout: requestMs,
    bodyTimeout: requestMs,
    connect: { timeout: requestMs },
  });

  const baseOf = ({ service }: WireRequest) => bases[service === "gateway" ? "gateway" : "export"];

  const exchange = async (request: WireRequest): Promise<WireReply> => {
    const { method, target, headers, body, signal } = request;
    const { origin, prefix } = baseOf(request);
    const path = prefix + target;
    const client = getClientAddress();
    // The platform believes it where it trusts this machine as a proxy.
    const forwarded = client === undefined ? headers : { ...headers, "x-forwarded-for": client };
    const answer = await agent.request({ origin, path, method, headers: forwarded, body, signal });
    const head = { status: answer.statusCode, headers: toTextHeaders(answer.headers) };
    return { ...head, ...(await readBody(request, head, answer.body, maxAnswerBytes)) };
  };

  return {
    getWithBody: true,
    requestMs,
    async send(request) {
      try {
        return await exchange(request);
      } catch (error) {
        if (request.signal.aborted) throw getAbortReason(request.signal);
        const proxyStatus = findProxyStatus(error);
        if (proxyStatus !== undefined) {
          throw new TransportFault(proxyStatus < 500 ? "proxy" : "refused", error);
        }
        // A request that undici refuses to send is a bug of this client, not a transport fault.
        if (error instanceof TransportFault || error instanceof errors.InvalidArgumentError) {
          throw error;
        }
        const kind = findFaultKind(error);
        const { origin } = baseOf(request);
        const isOfProxy =
          UNREACHABLE.has(kind) && findProxy(getProxies(), new URL(origin)) !== undefined;
        throw new TransportFault(isOfProxy ? "no_proxy" : kind, error);
      }
    },
    close: () => agent.destroy(),
  };
};
