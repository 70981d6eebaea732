import { hash, timingSafeEqual } from "node:crypto";
import type Provider from "oidc-provider";
import { type AdapterPayload, type Configuration, errors } from "oidc-provider";
import { HOUR, SECOND } from "../kit/clock.ts";
import type { OauthContext } from "./context.ts";
import type { DirectoryClient } from "./directory.ts";
import { CLIENT_CREDENTIALS, JWT_BEARER } from "./grant-types.ts";

/** Longest time for which a client assertion is accepted, in milliseconds: its `jti` is stored as long. */
const MAX_ASSERTION_MS = HOUR;
export const MAX_JTI = 256;

/** Accepted difference between the clocks of a client or a provider and of this server. */
export const CLOCK_TOLERANCE_SECONDS = 10;

/** The member of a client's metadata with the version of its credential. */
export const CREDENTIAL_VERSION = "credential_version";

/** Returns the metadata (RFC 7591) of a client that an administrator created. */
export const toClientMetadata = (
  { id, name, jwks, secretHash, version }: DirectoryClient,
  grantTypes: readonly string[],
): AdapterPayload => ({
  client_id: id,
  client_name: name,
  [CREDENTIAL_VERSION]: version,
  redirect_uris: [],
  response_types: [],
  grant_types: [...grantTypes],
  ...(jwks === undefined
    ? { token_endpoint_auth_method: "client_secret_basic", client_secret: secretHash ?? "" }
    : { token_endpoint_auth_method: "private_key_jwt", jwks: JSON.parse(jwks) }),
});

/** Returns the grants that clients of administrators may use here. */
export const listDirectoryGrants = ({ identityProviders }: OauthContext): string[] => [
  CLIENT_CREDENTIALS,
  ...(identityProviders === undefined ? [] : [JWT_BEARER]),
];

const hashSecret = (secret: string): Buffer => Buffer.from(hash("sha256", secret, "base64url"));

/** Makes the provider compare the hash of a secret with the stored one: the store has no secrets. */
export const compareHashedSecrets = (provider: Provider): void => {
  Object.defineProperty(provider.Client.prototype, "compareClientSecret", {
    value(this: { clientSecret?: string }, secret: string): boolean {
      const [stored, sent] = [Buffer.from(this.clientSecret ?? ""), hashSecret(secret)];
      return stored.length === sent.length && timingSafeEqual(stored, sent);
    },
  });
};

/**
 * Records the use of an assertion's `jti` until it expires; false if it was used before. One statement, so that of two
 * requests at once, also at two nodes, one is refused.
 */
export const claimAssertion = (
  { records, now }: OauthContext,
  { issuer, jti, expiresAt }: { issuer: string; jti: string; expiresAt: number },
): Promise<boolean> =>
  records.add({
    kind: "UsedAssertion",
    id: JSON.stringify([issuer, jti]),
    value: {},
    expiresAt: Math.max(expiresAt, now()) + SECOND,
  });

/** Replaces the provider's own guard, which reads before it writes. */
export const guardReplays = (provider: Provider, context: OauthContext): void => {
  Object.defineProperty(provider.ReplayDetection, "unique", {
    value: (issuer: string, jti: string, exp: number) =>
      claimAssertion(context, { issuer, jti, expiresAt: exp * SECOND }),
  });
};

/** Refuses client assertions (RFC 7523) that are valid for long, whose `jti` would be stored as long. */
export const createAssertionCheck =
  ({ now }: OauthContext): Configuration["assertJwtClientAuthClaimsAndHeader"] =>
  async (_context, { iat, exp, jti }) => {
    if (typeof iat === "number" && (iat - CLOCK_TOLERANCE_SECONDS) * SECOND > now()) {
      throw new errors.InvalidClientAuth("a client assertion must not be issued in the future");
    }
    const isShort = typeof exp === "number" && exp * SECOND <= now() + MAX_ASSERTION_MS;
    if (!isShort) {
      throw new errors.InvalidClientAuth("a client assertion must expire within an hour");
    }
    if (typeof jti === "string" && jti.length <= MAX_JTI) return;
    throw new errors.InvalidClientAuth(`jti must be a text of at most ${MAX_JTI} characters`);
  };
