import { createHmac } from "node:crypto";
import {
  type AuthInfo,
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Broker } from "../broker/port.ts";
import type { Settings } from "../config/settings.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { keyFor } from "../kit/seal.ts";

/** Scopes of a caller. No scope includes another. */
export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** The caller of a request, over either transport. */
export type Caller = {
  /** Stable, not secret, and unique to one person at one tenant. */
  id: string;
  /** The OAuth client, or the holder of a static token. A session belongs to one client. */
  client: string;
  /** The OAuth grant, or the static token. A confirmation is valid for one grant. */
  grant: string;
  scopes: readonly Scope[];
  /** The name of the profile with the caller's credentials. */
  profile: string;
  /** Whether the caller has no key for the export and ingest services; absent: the settings say it. */
  lacksExportKey?: boolean;
};

/** The platform access of one caller. */
export type CallerContext = {
  /** The caller's id. */
  caller: string;
  /** Calls the platform with the caller's credentials. */
  broker: Broker;
  settings: Settings;
  log: Log;
  now: Clock;
};

/** Returns the settings for one caller. */
export const settingsOf = (settings: Settings, caller: Caller | undefined): Settings =>
  caller?.lacksExportKey === undefined
    ? settings
    : { ...settings, lacksExportKey: caller.lacksExportKey };

const ID_CHARACTERS = 22;

/** Returns the caller id for the parts of an identity: a keyed hash, so that the id does not reveal the identity. */
export const deriveCallerId = (key: Buffer, ...parts: readonly string[]): string =>
  createHmac("sha256", keyFor(key, "mcp/caller"))
    .update(JSON.stringify(parts))
    .digest("base64url")
    .slice(0, ID_CHARACTERS);

/** A caller in the SDK's `AuthInfo`. Its token is empty, so that no handler can forward the token. */
export type CallerAuthInfo = AuthInfo & { token: ""; extra: { caller: Caller } };

/** Wraps a caller in the SDK's `AuthInfo`. */
export const toAuthInfo = (
  caller: Caller,
  more: Pick<AuthInfo, "expiresAt" | "resource" | "resourceMetadataUrl"> = {},
): CallerAuthInfo => ({
  token: "",
  clientId: caller.id,
  scopes: [...caller.scopes],
  ...more,
  extra: { caller },
});

/** The part of the SDK's request context that identifies the caller over HTTP; empty over stdio. */
export type RequestAuth = { http?: { authInfo?: AuthInfo | undefined } | undefined };

/** Returns the caller of an HTTP request; undefined over stdio. */
export const findCaller = (authInfo: AuthInfo | undefined): Caller | undefined =>
  (authInfo as Partial<CallerAuthInfo> | undefined)?.extra?.caller;

/**
 * Requires a scope. Handlers check again what the HTTP transport has checked by headers and body.
 *
 * @throws {ProtocolError} InvalidRequest
 */
export const checkScope = ({ scopes }: Caller, scope: Scope): void => {
  if (scopes.includes(scope)) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    `insufficient_scope: this needs the scope ${scope}.`,
  );
};

/** Returns the capabilities of the client: of its request in 2026, of its session before; undefined without a session. */
export const capabilitiesOf = (server: Server, { mcpReq }: ServerContext): unknown =>
  mcpReq.envelope === undefined
    ? server.getClientCapabilities()
    : (mcpReq.envelope as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY];

/** Returns the caller for the person who runs this server: all scopes, one fixed id. */
export const createOwnCaller = (profile: string): Caller => ({
  id: "own",
  client: "own",
  grant: "own",
  scopes: SCOPES,
  profile,
});
