import { getCode } from "../kit/error.ts";

/**
 * The reason why a request got no response. `unknown_host`, `untrusted` (TLS) and `refused`: nothing was sent.
 * `lost`: the connection ended midway, so the platform may have acted. `garbled`: the bytes are not a valid response.
 * `canceled`: the caller aborted.
 */
export type FaultKind =
  | "unknown_host"
  | "untrusted"
  | "refused"
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

const UNSENT: ReadonlySet<FaultKind> = new Set(["unknown_host", "untrusted", "refused"]);

/** Whether the request never reached the platform, so that it cannot have acted. */
export const isUnsent = ({ kind }: TransportFault): boolean => UNSENT.has(kind);

/** Returns an error's system code such as ECONNREFUSED, or "". Never text of the remote side. */
export const findSystemCode = (error: unknown): string => {
  if (error instanceof AggregateError) return findSystemCode(error.errors[0]);
  const code = getCode(error) ?? "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? code : "";
};
