import { createHmac } from "node:crypto";
import { type AuthInfo, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { keyFor } from "../../kit/seal.ts";

/** What a caller may have tools do. None includes another. */
export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** Who calls, as far as this server knows them. */
export type Caller = {
  /** Lasting, no secret, and nobody else's: neither another person's nor the same person's at another tenant. */
  id: string;
  /** The program that acts for them: an OAuth client, or the holder of a token. Sessions belong to one. */
  client: string;
  /** The authorization under which it acts: an OAuth grant, or a token. Confirmations hold for one. */
  grant: string;
  scopes: readonly Scope[];
  /** The name of the profile with whose credentials they act. */
  profile: string;
};

const ID_CHARACTERS = 22;

/** A caller's id from what makes them who they are, under a key without which nobody can tell the one from the other. */
export const callerId = (key: Buffer, ...parts: readonly string[]): string =>
  createHmac("sha256", keyFor(key, "mcp/caller"))
    .update(JSON.stringify(parts))
    .digest("base64url")
    .slice(0, ID_CHARACTERS);

/** A caller as the SDK carries them. It never holds the token: what comes after the gate cannot pass it on. */
export type Admitted = AuthInfo & { token: ""; extra: { caller: Caller } };

export type Gate = {
  /** Whose request it is, or the answer that refuses it; the body stays unread. */
  admit(request: Request): Promise<Admitted | Response>;
  /** Answers what is asked about the way in, such as its metadata; undefined for everything else. */
  describe(request: Request): Response | undefined;
};

export const admitted = (
  caller: Caller,
  more: Pick<AuthInfo, "expiresAt" | "resource" | "resourceMetadataUrl"> = {},
): Admitted => ({
  token: "",
  clientId: caller.id,
  scopes: [...caller.scopes],
  ...more,
  extra: { caller },
});

/** What of a request within a server tells whose it is, over HTTP; over stdio there is nothing to tell. */
export type Asking = { http?: { authInfo?: AuthInfo | undefined } | undefined };

/** Whoever a request within a server comes from, over HTTP. */
export const callerOf = ({ http }: Asking): Caller => {
  const { extra } = (http?.authInfo ?? {}) as Partial<Admitted>;
  if (extra === undefined) throw new Error("a request has come past the gate");
  return extra.caller;
};

/** Holds also where the door could not tell what is asked for: nothing is done without the scope for it. */
export const checkScope = ({ scopes }: Caller, scope: Scope): void => {
  if (scopes.includes(scope)) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    `insufficient_scope: this needs the scope ${scope}.`,
  );
};

/** The one who started this server, or may as well have. */
export const ownCaller = (profile: string): Caller => ({
  id: "own",
  client: "own",
  grant: "own",
  scopes: SCOPES,
  profile,
});

/** Admits everybody as one caller: only for what is nobody's. */
export const openGate = (caller: Caller): Gate => ({
  admit: async () => admitted(caller),
  describe: () => undefined,
});
