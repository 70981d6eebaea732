/**
 * Why an exchange gave no answer. `unknown_host`, `untrusted` (TLS) and `refused`: nothing was sent; `lost`: the
 * connection ended on the way, so the platform may have acted; `garbled`: what came is no answer; `canceled`: whoever
 * called no longer wants it.
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

/** What a transport throws; the client turns it into a Problem. */
export class TransportFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, cause?: unknown) {
    super(kind, { cause });
    this.name = "TransportFault";
    this.kind = kind;
  }
}

const UNSENT: ReadonlySet<FaultKind> = new Set(["unknown_host", "untrusted", "refused"]);

/** Whether the platform cannot have acted: it never got the request. */
export const isUnsent = ({ kind }: TransportFault): boolean => UNSENT.has(kind);

/** The system's own word for what happened, such as ECONNREFUSED; never text of the other side. */
export const codeOf = (error: unknown): string => {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[A-Z0-9_]{1,64}$/.test(code) ? code : "";
};
