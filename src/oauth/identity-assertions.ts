import { decodeJwt, errors as joseErrors, type JWTPayload, jwtVerify } from "jose";
import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { HOUR, SECOND } from "../kit/clock.ts";
import { SIGNING_ALGORITHMS } from "../kit/issuers.ts";
import { toErrorFields } from "../kit/log.ts";
import { Secret } from "../kit/secret.ts";
import type { OauthContext } from "./context.ts";
import { checkResource, issueDirectToken, readScopes, type TokenContext } from "./direct-tokens.ts";
import type { Directory, DirectoryPerson, Tenant } from "./directory.ts";
import { claimAssertion, CLOCK_TOLERANCE_SECONDS, MAX_JTI } from "./directory-clients.ts";
import { JWT_BEARER } from "./grant-types.ts";
import type { IdentityProvider } from "./identity-providers.ts";
import { ensurePerson, findPerson, isKeyAccepted, personIdOf } from "./people.ts";
import { closeSession } from "./platform-session.ts";
import { createProviderKeys, type ProviderKeys, ProviderUnavailable } from "./provider-keys.ts";
import { parseScopes, type Scope } from "./scopes.ts";

const TYPE = "oauth-id-jag+jwt";

/** Longest time for which an assertion may be valid, in milliseconds: its `jti` is stored as long. */
const MAX_VALID_MS = HOUR;
const MAX_TEXT = 254;

/** Errors of `jose` that say nothing about the assertion: the keys could not be read. */
const UNAVAILABLE: readonly string[] = [
  joseErrors.JWKSTimeout.code,
  joseErrors.JWKSInvalid.code,
  joseErrors.JOSEError.code,
];

/** The context of the grant. */
type Needs = TokenContext & { directory: Directory; keysOf: ProviderKeys };

/** One token request: its client and its assertion. */
type Presented = { clientId: string; assertion: string };

/** The refusal of an assertion (RFC 7523, section 3.1): the client learns the kind only, the log the reason. */
const refuse = (
  { log }: OauthContext,
  { clientId }: Pick<Presented, "clientId">,
  reason: string,
): never => {
  log.warn("oauth.assertion_refused", { client: clientId, reason });
  throw new errors.InvalidGrant(reason);
};

const unavailable = ({ log }: OauthContext, error: unknown): never => {
  log.error("oauth.identity_provider_away", toErrorFields(error));
  throw Object.assign(
    new errors.CustomOIDCProviderError(
      "temporarily_unavailable",
      "The identity provider does not answer. Try again in a minute.",
    ),
    { status: 503, statusCode: 503 },
  );
};

/** Finds the identity provider that an assertion names, before its signature is verified. */
const findProvider = async (needs: Needs, presented: Presented): Promise<IdentityProvider> => {
  const { assertion, clientId } = presented;
  let issuer: unknown;
  try {
    issuer = decodeJwt(assertion).iss;
  } catch {
    return refuse(needs, presented, "no_jwt");
  }
  const providers = (await needs.identityProviders?.()) ?? [];
  const provider = providers.find((one) => one.issuer === issuer);
  if (provider === undefined) return refuse(needs, presented, "unknown_issuer");
  return provider.clients.includes(clientId)
    ? provider
    : refuse(needs, presented, "client_not_listed");
};

/** Verifies signature, type, audience and times of an assertion. */
const verify = async (
  needs: Needs,
  presented: Presented,
  { issuer, audience = needs.issuer }: IdentityProvider,
): Promise<JWTPayload> => {
  try {
    const keys = await needs.keysOf(issuer);
    const { payload } = await jwtVerify(presented.assertion, keys, {
      issuer,
      audience: [audience, `${audience}/`],
      typ: TYPE,
      algorithms: [...SIGNING_ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(needs.now()),
      requiredClaims: ["sub", "exp", "iat", "jti", "client_id"],
    });
    return payload;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return unavailable(needs, error);
    if (!(error instanceof joseErrors.JOSEError)) throw error;
    if (UNAVAILABLE.includes(error.code)) return unavailable(needs, error);
    return refuse(needs, presented, error.code.toLowerCase());
  }
};

/**
 * Claims that restrict an assertion in a way that this server cannot enforce: to the holder of a key (RFC 7800) and to
 * some actions (RFC 9396).
 */
const UNSUPPORTED = ["cnf", "authorization_details"];

/** Returns the reason why the claims of a verified assertion are refused; undefined if they are accepted. */
const findFault = (
  { now }: OauthContext,
  { clientId }: Presented,
  { aud, client_id, jti, iat = 0, exp = Infinity, ...others }: JWTPayload,
): string | undefined => {
  const restriction = UNSUPPORTED.find((claim) => others[claim] !== undefined);
  if (restriction !== undefined) return `restricted_by_${restriction}`;
  if ([aud].flat().length !== 1) return "several_audiences";
  if (client_id !== clientId) return "other_client";
  if ((iat - CLOCK_TOLERANCE_SECONDS) * SECOND > now()) return "issued_in_the_future";
  if (exp * SECOND > now() + MAX_VALID_MS) return "valid_too_long";
  return typeof jti === "string" && jti !== "" && jti.length <= MAX_JTI ? undefined : "wrong_jti";
};

/** Returns the person's e-mail address; undefined if it is missing or not verified. */
const readEmail = ({ claim, emailVerified }: IdentityProvider, claims: JWTPayload) => {
  const email = claims[claim];
  const { email_verified: word } = claims;
  const isVerified = emailVerified === "always" ? (word ?? true) === true : word === true;
  return isVerified && typeof email === "string" && email.length <= MAX_TEXT ? email : undefined;
};

/** Returns the scopes that both the request and the assertion name; the assertion's, if the request names none. */
const intersectScopes = (requested: Scope[] | undefined, claims: JWTPayload): Scope[] => {
  const asserted = claims["scope"] === undefined ? undefined : parseScopes(claims["scope"]);
  const scopes = (requested ?? asserted ?? (["read"] satisfies Scope[])).filter(
    (scope) => asserted?.includes(scope) ?? true,
  );
  if (scopes.length > 0) return scopes;
  throw new errors.InvalidScope("the assertion allows none of these scopes", "");
};

/** Makes sure that this server has a working API key of a person. */
const ensureKey = async (
  needs: Needs,
  presented: Presented,
  { person, tenant, issuer }: { person: DirectoryPerson; tenant: Tenant; issuer: string },
): Promise<void> => {
  const existing = await findPerson(needs, personIdOf(needs, person.userId, tenant.id));
  if (existing !== undefined && (await isKeyAccepted(needs, existing))) return;
  const opened = await needs.directory.openSession(person.email, { method: "ID_JAG", issuer });
  if (opened === undefined) return refuse(needs, presented, "unknown_person");
  const session = { ...opened, token: new Secret(opened.token) };
  try {
    await ensurePerson(needs, session, tenant);
  } finally {
    await closeSession(needs, session);
  }
};

/** Verifies an assertion, uses it up, and finds its person and their tenant. */
const readAssertion = async (needs: Needs, presented: Presented) => {
  const provider = await findProvider(needs, presented);
  const claims = await verify(needs, presented, provider);
  const fault = findFault(needs, presented, claims);
  if (fault !== undefined) return refuse(needs, presented, fault);
  checkResource(needs, claims["resource"]);
  const email = readEmail(provider, claims);
  if (email === undefined) return refuse(needs, presented, "email_not_verified");
  const { issuer } = provider;
  const { jti = "", exp = 0 } = claims;
  const expiresAt = (exp + CLOCK_TOLERANCE_SECONDS) * SECOND;
  if (!(await claimAssertion(needs, { issuer, jti, expiresAt }))) {
    return refuse(needs, presented, "used_before");
  }
  const person = await needs.directory.findPerson(email);
  if (person === undefined) return refuse(needs, presented, "unknown_person");
  // The provider may say for which tenant of this server the assertion is.
  const named = [needs.tenantId, claims["aud_tenant"]].filter((one) => one !== undefined);
  const tenant = person.tenants.find(({ id }) => named.every((one) => one === id));
  if (tenant === undefined) return refuse(needs, presented, "no_tenant_of_the_person");
  return { claims, person, tenant, issuer };
};

/**
 * Creates the handler of the JWT bearer grant (RFC 7523) for identity assertions (ID-JAG): a token with the rights of
 * the person, for the scopes that request and assertion have in common, without a refresh token.
 */
export const createAssertionHandler = (context: TokenContext, directory: Directory) => {
  const needs: Needs = { ...context, directory, keysOf: createProviderKeys(context) };
  return async (exchange: KoaContextWithOIDC): Promise<void> => {
    const { client, params } = exchange.oidc;
    if (client === undefined) throw new errors.InvalidClient();
    const assertion = params?.["assertion"];
    if (typeof assertion !== "string") {
      throw new errors.InvalidRequest("missing required parameter 'assertion'");
    }
    const requested = readScopes(params?.["scope"]);
    checkResource(needs, params?.["resource"]);
    const presented = { clientId: client.clientId, assertion };
    const { claims, ...found } = await readAssertion(needs, presented);
    await issueDirectToken(needs, exchange, {
      client,
      personId: personIdOf(needs, found.person.userId, found.tenant.id),
      scopes: intersectScopes(requested, claims),
      grantType: JWT_BEARER,
      ensureKey: () => ensureKey(needs, presented, found),
    });
  };
};
