import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from "jose";
import { z } from "zod";
import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import { listMetadataUrls, SIGNING_ALGORITHMS } from "../../kit/issuers.ts";
import { createLazy } from "../../kit/lazily.ts";
import type { Log } from "../../kit/log.ts";
import { isGuarded } from "../../kit/network.ts";
import type { Secret } from "../../kit/secret.ts";
import type { Bearer, Verify } from "./bearer.ts";
import { deriveCallerId, SCOPES, type Scope } from "../caller.ts";
import { createIntrospection } from "./introspection.ts";
import { createIssuerFetch } from "./issuer-fetch.ts";

/** An external authorization server whose tokens this server accepts. */
export type IssuerNeeds = {
  /** The issuer identifier in its tokens and metadata. */
  issuer: string;
  /** The audience (`aud`) that tokens must have. */
  audience: string;
  /** The OAuth client for token introspection (RFC 7662). */
  client: { id: string; secret: Secret } | undefined;
  /** Returns the name of a subject's profile; undefined if there is none. */
  profileOf(subject: string): Promise<string | undefined>;
  /** The claim with a person's e-mail address; undefined: only listed subjects have access. */
  personClaim?: string | undefined;
  /** Returns the name under which a person of the store acts; undefined for an unknown or inactive one. */
  personOf?(email: string): Promise<string | undefined>;
  /** Derives callers' ids. */
  key: Buffer;
  fetch: typeof globalThis.fetch;
  now: Clock;
  log: Log;
};

const TIMEOUT_MS = 5 * SECOND;

const TYPES = ["at+jwt", "application/at+jwt", "jwt"];

/** Errors that mean an invalid token; others mean that the issuer or its keys are unavailable. */
const INVALID_TOKEN_CODES: readonly string[] = [
  errors.JWTExpired.code,
  errors.JWTClaimValidationFailed.code,
  errors.JWTInvalid.code,
  errors.JWSInvalid.code,
  errors.JWSSignatureVerificationFailed.code,
  errors.JWKSNoMatchingKey.code,
  errors.JWKSMultipleMatchingKeys.code,
  errors.JOSEAlgNotAllowed.code,
  errors.JOSENotSupported.code,
];

const Metadata = z.object({
  issuer: z.string(),
  jwks_uri: z.url().optional(),
  introspection_endpoint: z.url().optional(),
});
type Metadata = z.infer<typeof Metadata>;

type DiscoveryNeeds = Pick<IssuerNeeds, "issuer" | "fetch">;

const fetchMetadata = async (
  url: string,
  { issuer, fetch }: DiscoveryNeeds,
): Promise<Metadata | undefined> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal, redirect: "error" });
  if (!response.ok) {
    await response.body?.cancel();
    return undefined;
  }
  const metadata = Metadata.parse(await response.json());
  if (metadata.issuer !== issuer) throw new Error(`${url} names another issuer`);
  const { jwks_uri, introspection_endpoint } = metadata;
  const isUnguarded = [jwks_uri, introspection_endpoint].some(
    (endpoint) => endpoint !== undefined && !isGuarded(endpoint),
  );
  if (isUnguarded) throw new Error(`${url} names an address without TLS`);
  return metadata;
};

const discover = async (needs: DiscoveryNeeds): Promise<Metadata> => {
  const { issuer } = needs;
  for (const url of listMetadataUrls(issuer)) {
    const metadata = await fetchMetadata(url, needs);
    if (metadata !== undefined) return metadata;
  }
  throw new Error(`${issuer} has no metadata at any of ${listMetadataUrls(issuer).join(", ")}`);
};

const Keys = z.object({ keys: z.array(z.unknown()).min(1) });

/**
 * Returns the number of an issuer's keys, and whether it offers token introspection.
 *
 * @throws {Error} if its metadata or keys cannot be read
 */
export const checkIssuer = async (
  needs: DiscoveryNeeds,
): Promise<{ keys: number | undefined; introspects: boolean }> => {
  const { jwks_uri: url, introspection_endpoint } = await discover(needs);
  const introspects = introspection_endpoint !== undefined;
  if (url === undefined) return { keys: undefined, introspects };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await needs.fetch(url, { signal, redirect: "error" });
  const { data } = Keys.safeParse(response.ok ? await response.json() : undefined);
  if (data === undefined) throw new Error(`${url} answered ${response.status} without keys`);
  return { keys: data.keys.length, introspects };
};

/** The claims of a valid token. */
type Claims = Partial<
  Record<"sub" | "exp" | "scope" | "scp" | "client_id" | "azp" | "email_verified", unknown>
> &
  Record<string, unknown>;

/** Returns the OAuth client of a token: `client_id` in RFC 9068, `azp` in OpenID Connect. */
const clientOf = ({ client_id, azp }: Claims): string => {
  const client = client_id ?? azp;
  return typeof client === "string" ? client : "";
};

const scopesOf = ({ scope, scp }: Claims): Scope[] => {
  const names = [scope ?? scp].flat().flatMap((value) => String(value).split(" "));
  return SCOPES.filter((name) => names.includes(name));
};

const MAX_EMAIL = 254;

/**
 * Finds the person whom a claim names. The address must be verified: by `email_verified` for the claim `email`, which
 * people can often change themselves; for another claim, which the operator chose, it must only not be denied.
 */
const findPerson = async (
  { personClaim, personOf }: IssuerNeeds,
  claims: Claims,
): Promise<string | undefined> => {
  const email = personClaim === undefined ? undefined : claims[personClaim];
  const { email_verified: verified } = claims;
  const isVerified = personClaim === "email" ? verified === true : (verified ?? true) === true;
  if (typeof email !== "string" || email.length > MAX_EMAIL || !isVerified) return undefined;
  return personOf?.(email);
};

const isJwt = (token: string): boolean => {
  if (token.split(".").length !== 3) return false;
  try {
    return decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
};

const ignoreInvalidToken = (error: unknown): undefined => {
  if (error instanceof errors.JOSEError && INVALID_TOKEN_CODES.includes(error.code))
    return undefined;
  throw error;
};

/** Creates a verifier of signed tokens, which fetches the keys again for an unknown key id. */
const createJwtVerifier = (jwksUri: string, { issuer, audience, fetch }: IssuerNeeds) => {
  const keys = createRemoteJWKSet(new URL(jwksUri), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: 30 * SECOND,
    cacheMaxAge: 10 * MINUTE,
    [customFetch]: fetch,
  });
  return async (token: string): Promise<JWTPayload | undefined> => {
    const rules = {
      issuer,
      audience,
      algorithms: [...SIGNING_ALGORITHMS],
      requiredClaims: ["sub", "exp"],
    };
    const verified = await jwtVerify(token, keys, rules).catch(ignoreInvalidToken);
    const { typ = "jwt" } = verified?.protectedHeader ?? {};
    return TYPES.includes(typ.toLowerCase()) ? verified?.payload : undefined;
  };
};

type ReadClaims = (token: string, isLimited?: boolean) => Promise<Claims | undefined>;

const createClaimsReader = async (needs: IssuerNeeds): Promise<ReadClaims> => {
  const { client } = needs;
  const { jwks_uri, introspection_endpoint: url } = await discover(needs);
  const verifyJwt = jwks_uri === undefined ? undefined : createJwtVerifier(jwks_uri, needs);
  const introspect =
    url === undefined || client === undefined
      ? undefined
      : createIntrospection({ ...needs, url, client, timeoutMs: TIMEOUT_MS });
  // Only introspection sends a request per token, so only introspection is limited.
  return async (token, isLimited) =>
    isJwt(token) && verifyJwt ? verifyJwt(token) : introspect?.(token, isLimited);
};

/**
 * Creates a verifier of an issuer's tokens: JWTs by its keys, other tokens by introspection. Its metadata is read at the
 * first token.
 */
export const createIssuerVerifier = (needs: IssuerNeeds): Verify => {
  const { issuer, profileOf, key } = needs;
  const fetch = createIssuerFetch(needs);
  const openReader = createLazy(() => createClaimsReader({ ...needs, fetch }));
  return async (token, isLimited): Promise<Bearer | "invalid" | "forbidden"> => {
    const claims = await (await openReader())(token, isLimited);
    if (typeof claims?.sub !== "string") return "invalid";
    const profile = (await profileOf(claims.sub)) ?? (await findPerson(needs, claims));
    if (profile === undefined) return "forbidden";
    const id = deriveCallerId(key, "issuer", issuer, claims.sub, profile);
    const client = deriveCallerId(key, "issuer-client", issuer, claims.sub, clientOf(claims));
    const expiresAt = typeof claims.exp === "number" ? claims.exp : Infinity;
    // These tokens name no grant, so a confirmation is valid for the client.
    return { id, client, grant: client, profile, scopes: scopesOf(claims), expiresAt };
  };
};
