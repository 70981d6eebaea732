import { type CallerAuthInfo, toAuthInfo, type Caller } from "../caller.ts";

/** Authenticates HTTP requests. */
export type Gate = {
  /** Returns the caller of a request, or the response that refuses it; does not read the body. */
  admit(request: Request): Promise<CallerAuthInfo | Response>;
  /** Handles a request for authentication metadata (RFC 9728); undefined for every other request. */
  describe(request: Request): Response | undefined;
};

/** Creates a gate that accepts every request as one caller: for servers without authentication. */
export const createOpenGate = (caller: Caller): Gate => ({
  admit: async () => toAuthInfo(caller),
  describe: () => undefined,
});

/** Wraps a gate so that it says of each caller whether they have a key for the export and ingest services. */
export const findKeyHolders = (
  gate: Gate,
  hasExportKey: (profile: string) => Promise<boolean>,
): Gate => ({
  ...gate,
  async admit(request) {
    const admitted = await gate.admit(request);
    if (admitted instanceof Response) return admitted;
    const { caller } = admitted.extra;
    const lacksExportKey = !(await hasExportKey(caller.profile));
    return { ...admitted, extra: { caller: { ...caller, lacksExportKey } } };
  },
});
