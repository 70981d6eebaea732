import type Provider from "oidc-provider";
import { type Client, type Configuration, errors, type KoaContextWithOIDC } from "oidc-provider";
import { SECOND } from "../kit/clock.ts";
import { toOneLine } from "../pages/html.ts";
import type { OauthContext } from "./context.ts";
import { CREDENTIAL_VERSION } from "./directory-clients.ts";
import { isDirectoryId } from "./directory.ts";
import { revokeGrant, saveConnection } from "./grants.ts";
import { ACCESS_TOKEN_MS } from "./lifetimes.ts";
import { parseScopes, type Scope } from "./scopes.ts";

/** A context with the provider that issues the tokens. */
export type TokenContext = OauthContext & { provider: Provider };

/** The holder of a token that is issued without a browser. */
export type DirectGrant = {
  client: Client;
  personId: string;
  scopes: readonly Scope[];
  grantType: string;
  /** Makes sure that the holder has a working API key. The grant exists already. */
  ensureKey: () => Promise<unknown>;
};

/** Returns a URL without the slash at its end. */
export const toHref = (url: string): string => (URL.parse(url)?.href ?? url).replace(/\/$/, "");

/** @throws {errors.InvalidTarget} if a value of `resource` (RFC 8707) is not the MCP endpoint */
export const checkResource = ({ resourceAliases }: OauthContext, value: unknown): void => {
  const named = value === undefined ? [] : [value].flat();
  const isOwn = (one: unknown): boolean =>
    typeof one === "string" && resourceAliases.includes(toHref(one));
  if (!named.every(isOwn)) throw new errors.InvalidTarget();
};

/** Returns the known scopes of a parameter, if there is one. @throws {errors.InvalidScope} if it has no known scope */
export const readScopes = (parameter: unknown): Scope[] | undefined => {
  if (parameter === undefined) return undefined;
  const scopes = parseScopes(parameter);
  if (scopes.length > 0) return scopes;
  throw new errors.InvalidScope("the scopes are read, write and admin", String(parameter));
};

/**
 * Whether the client of a token may still use it: a client that an administrator deleted, or whose credential was
 * replaced, may not.
 */
export const isClientCurrent = async (
  context: OauthContext,
  clientId: string,
  extra: Record<string, unknown> | undefined,
): Promise<boolean> => {
  if (!isDirectoryId(clientId)) return true;
  const client = await context.directory?.findClient(clientId);
  return client !== undefined && extra?.[CREDENTIAL_VERSION] === client.version;
};

/** Stores in a token the version of the credential with which its client authenticated. */
export const addCredentialVersion: Configuration["extraTokenClaims"] = (exchange) => {
  const version = exchange.oidc.client?.[CREDENTIAL_VERSION];
  return version === undefined ? undefined : { [CREDENTIAL_VERSION]: version };
};

/** Issues an access token for the MCP endpoint, without a refresh token, in answer to a token request. */
export const issueDirectToken = async (
  context: TokenContext,
  exchange: KoaContextWithOIDC,
  { client, personId, scopes, grantType, ensureKey }: DirectGrant,
): Promise<void> => {
  const { provider, resource, now, log } = context;
  const { clientId } = client;
  const scope = scopes.join(" ");
  const grant = new provider.Grant({ accountId: personId, clientId });
  grant.addResourceScope(resource, scope);
  // The grant is saved before the key exists, so that no clean-up deletes the key in between.
  const grantId = await grant.save();
  try {
    await ensureKey();
    const name = toOneLine(client.clientName ?? "") || "A program without a name";
    const since = now();
    const host = "without a browser";
    const connection = { grantId, personId, client: name, host, scopes: [...scopes], since };
    await saveConnection(context, connection, since + ACCESS_TOKEN_MS);
  } catch (error) {
    await revokeGrant(context, grantId);
    throw error;
  }
  const token = new provider.AccessToken({
    accountId: personId,
    client,
    grantId,
    gty: grantType,
    scope,
  });
  token.setAudience(resource);
  const value = await token.save();
  log.info("oauth.token_issued", { person: personId, client: clientId, grantType, scopes });
  exchange.body = {
    access_token: value,
    expires_in: ACCESS_TOKEN_MS / SECOND,
    token_type: "Bearer",
    scope,
  };
};
