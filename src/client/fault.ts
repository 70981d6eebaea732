/**
 * Why an exchange gave no answer. `refused`: nothing was sent; `lost`: the connection ended on the way, so the
 * platform may have acted; `canceled`: whoever called no longer wants it.
 */
export type FaultKind = "refused" | "lost" | "timeout" | "too_large" | "canceled";

/** What a transport throws; the client turns it into a Problem. */
export class TransportFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, cause?: unknown) {
    super(kind, { cause });
    this.name = "TransportFault";
    this.kind = kind;
  }
}
