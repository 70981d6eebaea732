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
import { lazily } from "../../kit/lazily.ts";
import type { Log } from "../../kit/log.ts";
import { isGuarded } from "../../kit/network.ts";
import type { Secret } from "../../kit/secret.ts";
import type { Bearer, Verify } from "./bearer.ts";
import { deriveCallerId, SCOPES, type Scope } from "../caller.ts";
import { createIntrospection } from "./introspection.ts";
import { createIssuerFetch } from "./issuer-fetch.ts";

/** Another's authorization server, whose tokens are taken. */
export type IssuerNeeds = {
  /** As it names itself in its tokens and metadata. */
  issuer: string;
  /** Whom tokens must be for. */
  audience: string;
  /** With which this server asks about tokens that it cannot read. */
  client: { id: string; secret: Secret } | undefined;
  /** The name of the profile by which a subject acts; undefined for one who has no place here. */
  profileOf(subject: string): Promise<string | undefined>;
  /** Makes callers' ids. */
  key: Buffer;
  fetch: typeof globalThis.fetch;
  now: Clock;
  log: Log;
};

const TIMEOUT_MS = 5 * SECOND;

/** Signatures that a public key checks; never none, and never a shared secret. */
const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");
const TYPES = ["at+jwt", "application/at+jwt", "jwt"];

/** What is wrong with a token, not with whoever could tell. */
const WRONG: readonly string[] = [
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

/** Where an issuer describes itself: as RFC 8414 has it, and as OpenID Connect does. */
const placesOf = (issuer: string): string[] => {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const [oauth, openid] = ["oauth-authorization-server", "openid-configuration"] as const;
  return [
    ...new Set([
      `${origin}/.well-known/${oauth}${path}`,
      `${origin}/.well-known/${openid}${path}`,
      `${origin}${path}/.well-known/${openid}`,
    ]),
  ];
};

type Asking = Pick<IssuerNeeds, "issuer" | "fetch">;

const metadataAt = async (
  place: string,
  { issuer, fetch }: Asking,
): Promise<Metadata | undefined> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(place, { signal, redirect: "error" });
  if (!response.ok) {
    await response.body?.cancel();
    return undefined;
  }
  const metadata = Metadata.parse(await response.json());
  if (metadata.issuer !== issuer) throw new Error(`${place} is of another issuer`);
  const { jwks_uri, introspection_endpoint } = metadata;
  const open = [jwks_uri, introspection_endpoint].some(
    (url) => url !== undefined && !isGuarded(url),
  );
  if (open) throw new Error(`${place} names an address without TLS`);
  return metadata;
};

const discover = async (needs: Asking): Promise<Metadata> => {
  const { issuer } = needs;
  for (const place of placesOf(issuer)) {
    // oxlint-disable-next-line no-await-in-loop -- the first that there is
    const metadata = await metadataAt(place, needs);
    if (metadata !== undefined) return metadata;
  }
  throw new Error(`${issuer} does not describe itself at any of ${placesOf(issuer).join(", ")}`);
};

const Keys = z.object({ keys: z.array(z.unknown()).min(1) });

/** What an issuer has by which tokens are checked: how many keys, and whether it can be asked. Throws what is wrong. */
export const checkIssuer = async (
  needs: Asking,
): Promise<{ keys: number | undefined; introspects: boolean }> => {
  const { jwks_uri: place, introspection_endpoint } = await discover(needs);
  const introspects = introspection_endpoint !== undefined;
  if (place === undefined) return { keys: undefined, introspects };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await needs.fetch(place, { signal, redirect: "error" });
  const { data } = Keys.safeParse(answer.ok ? await answer.json() : undefined);
  if (data === undefined) throw new Error(`${place} answers ${answer.status} and no keys`);
  return { keys: data.keys.length, introspects };
};

/** What a token says of its owner, once it is known to be good. */
type Claims = {
  sub?: unknown;
  exp?: unknown;
  scope?: unknown;
  scp?: unknown;
  client_id?: unknown;
  azp?: unknown;
};

/** The OAuth client that a token was given to: RFC 9068 names it client_id, OpenID Connect azp. */
const clientIn = ({ client_id, azp }: Claims): string => {
  const named = client_id ?? azp;
  return typeof named === "string" ? named : "";
};

const scopesOf = ({ scope, scp }: Claims): Scope[] => {
  const said = [scope ?? scp].flat().flatMap((one) => String(one).split(" "));
  return SCOPES.filter((one) => said.includes(one));
};

const isJwt = (token: string): boolean => {
  if (token.split(".").length !== 3) return false;
  try {
    return decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
};

const unlessWrong = (error: unknown): undefined => {
  if (error instanceof errors.JOSEError && WRONG.includes(error.code)) return undefined;
  throw error;
};

/** Reads tokens that are signed; undefined for one that is not good. Keys are fetched anew when one is not known. */
const createReadSigned = (jwksUri: string, { issuer, audience, fetch }: IssuerNeeds) => {
  const keys = createRemoteJWKSet(new URL(jwksUri), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: 30 * SECOND,
    cacheMaxAge: 10 * MINUTE,
    [customFetch]: fetch,
  });
  return async (token: string): Promise<JWTPayload | undefined> => {
    const rules = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: ["sub", "exp"] };
    const verified = await jwtVerify(token, keys, rules).catch(unlessWrong);
    const { typ = "jwt" } = verified?.protectedHeader ?? {};
    return TYPES.includes(typ.toLowerCase()) ? verified?.payload : undefined;
  };
};

type Read = (token: string, isLimited?: boolean) => Promise<Claims | undefined>;

const createRead = async (needs: IssuerNeeds): Promise<Read> => {
  const { client } = needs;
  const { jwks_uri, introspection_endpoint: url } = await discover(needs);
  const signed = jwks_uri === undefined ? undefined : createReadSigned(jwks_uri, needs);
  const introspect =
    url === undefined || client === undefined
      ? undefined
      : createIntrospection({ ...needs, url, client, timeoutMs: TIMEOUT_MS });
  // Signatures are checked without a request, so the limit is for introspection alone.
  return async (token, isLimited) =>
    isJwt(token) && signed ? signed(token) : introspect?.(token, isLimited);
};

/** Verifies tokens of an issuer: signed ones by its keys, others by asking it. It is found when a token first comes. */
export const createIssuerVerifier = (needs: IssuerNeeds): Verify => {
  const { issuer, profileOf, key } = needs;
  const fetch = createIssuerFetch(needs);
  const reader = lazily(() => createRead({ ...needs, fetch }));
  return async (token, isLimited): Promise<Bearer | "invalid" | "forbidden"> => {
    const claims = await (await reader())(token, isLimited);
    if (typeof claims?.sub !== "string") return "invalid";
    const profile = await profileOf(claims.sub);
    if (profile === undefined) return "forbidden";
    const id = deriveCallerId(key, "issuer", issuer, claims.sub, profile);
    const client = deriveCallerId(key, "issuer-client", issuer, claims.sub, clientIn(claims));
    const expiresAt = typeof claims.exp === "number" ? claims.exp : Infinity;
    // Tokens of other issuers name no grant.
    return { id, client, grant: client, profile, scopes: scopesOf(claims), expiresAt };
  };
};
