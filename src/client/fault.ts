import { getCode } from "../kit/error.ts";

/**
 * The reason why a request got no response. `unknown_host`, `untrusted` (TLS), `refused`, `proxy` (which does not let the
 * request through) and `no_proxy` (which cannot be reached): nothing was sent to the platform.
 * `lost`: the connection ended midway, so the platform may have acted. `garbled`: the bytes are not a valid response.
 * `canceled`: the caller aborted.
 */
export type FaultKind =
  | "unknown_host"
  | "untrusted"
  | "refused"
  | "proxy"
  | "no_proxy"
  | "lost"
  | "garbled"
  | "timeout"
  | "too_large"
  | "canceled";

/** Thrown by transports; the client converts it to a Problem. */
export class TransportFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, cause?: unknown) {
    super(kind, { cause });
    this.name = "TransportFault";
    this.kind = kind;
  }
}

const UNSENT: ReadonlySet<FaultKind> = new Set([
  "unknown_host",
  "untrusted",
  "refused",
  "proxy",
  "no_proxy",
]);

/** Whether the request never reached the platform, so that it cannot have acted. */
export const isUnsent = ({ kind }: TransportFault): boolean => UNSENT.has(kind);

/**
 * Returns the status with which a proxy refused a request, which undici gives in the message alone; undefined for any
 * other error.
 */
export const findProxyStatus = (error: unknown): number | undefined => {
  if (!(error instanceof Error)) return undefined;
  const [, tunnel, plain] =
    /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/.exec(error.message) ??
    [];
  const status = tunnel ?? plain;
  return status === undefined ? findProxyStatus(error.cause) : Number(status);
};

/** Returns an error's system code such as ECONNREFUSED, or "". Never text of the remote side. */
export const findSystemCode = (error: unknown): string => {
  if (error instanceof AggregateError) return findSystemCode(error.errors[0]);
  const code = getCode(error) ?? "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? code : "";
};
