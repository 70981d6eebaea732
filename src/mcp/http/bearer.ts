import { hash } from "node:crypto";
import {
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { getClientAddress } from "../../kit/client-address.ts";
import type { Clock } from "../../kit/clock.ts";
import { toPreflightHeaders } from "../../kit/cors.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { listLoopbackAliases } from "../../kit/network.ts";
import { type Caller, type CallerAuthInfo, toAuthInfo } from "../caller.ts";
import { createFailureLimiter } from "./failure-limiter.ts";
import type { Gate } from "./gate.ts";
import { IssuerUnavailable } from "./issuer-fetch.ts";
import { refuseMethod } from "./responses.ts";

/** The caller that a token identifies. `expiresAt`: seconds since the epoch, `Infinity` for a token without expiry. */
export type Bearer = Caller & { expiresAt: number };

/**
 * Finds the owner of a token. `invalid`: the token is unknown, has ended or is for another server; `forbidden`: it is
 * valid, but its owner has no profile here. Throws when the token cannot be checked now. `isLimited`: the client has
 * sent too many invalid tokens, so a token that only another server can check is `invalid` without a request.
 */
export type Verify = (
  token: string,
  isLimited?: boolean,
) => Promise<Bearer | "invalid" | "forbidden">;

export type BearerNeeds = {
  verify: Verify;
  /** The URL of the MCP endpoint, which tokens are for. */
  resource: URL;
  /** The authorization servers; empty if the operator issues static tokens. */
  issuers: readonly string[];
  now: Clock;
  log: Log;
};

const METADATA_PATH = "/.well-known/oauth-protected-resource";
const CORS_HEADERS = { "Access-Control-Allow-Origin": "*" };
const METHODS = "GET, HEAD, OPTIONS";
const RETRY_SECONDS = 10;

// Hosts ask for further scopes when a tool needs them.
const FIRST_SCOPES = ["read"];

/** Maximum number of cached hashes of valid tokens. */
const MAX_VALID = 10_000;

/** A refusal other than the challenge that asks the host to sign in. */
class Refused extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super("refused");
    this.response = response;
  }
}

/** Returns a response with a public document, readable from any origin (CORS). */
const respondWithDocument = ({ method, headers: sent }: Request, document: object): Response => {
  if (method === "OPTIONS") {
    const requested = sent.get("access-control-request-headers");
    return new Response(null, {
      status: 204,
      headers: { Allow: METHODS, ...toPreflightHeaders("*", METHODS, requested) },
    });
  }
  if (method !== "GET" && method !== "HEAD") {
    return refuseMethod(METHODS, CORS_HEADERS);
  }
  const response = Response.json(document, { headers: CORS_HEADERS });
  return method === "HEAD" ? new Response(null, response) : response;
};

const refuseWith = (
  status: number,
  error: string,
  error_description: string,
  headers: Record<string, string> = {},
): Response => Response.json({ error, error_description }, { status, headers });

const unavailable = (why = ""): Response =>
  refuseWith(
    503,
    "temporarily_unavailable",
    `The token cannot be checked now${why}; try again in ${RETRY_SECONDS} seconds.`,
    { "Retry-After": String(RETRY_SECONDS) },
  );

const forbidden = (): Response =>
  refuseWith(403, "access_denied", "You have no profile on this server. Ask its operator for one.");

const tooMany = (seconds: number): Response =>
  refuseWith(
    429,
    "too_many_requests",
    `Too many invalid tokens came from this address; try again in ${seconds} seconds with a valid one.`,
    { "Retry-After": String(seconds) },
  );

/**
 * Limits invalid tokens by the client's address. A token that was valid before is exempt, so that after its expiry the
 * host gets the ordinary challenge and signs in again.
 */
const limitFailures = ({
  verify,
  now,
  log,
}: Pick<BearerNeeds, "verify" | "now" | "log">): Verify => {
  const failures = createFailureLimiter(now);
  const valid = new LRUCache<string, true>({ max: MAX_VALID });
  return async (token) => {
    const name = hash("sha256", token, "base64url");
    const wasValid = valid.get(name) === true;
    const address = getClientAddress();
    const attempt = await failures.begin(wasValid ? undefined : address);
    const found = await verify(token, attempt.retryAfter !== undefined).catch(
      async (error: unknown) => {
        await attempt.succeed();
        throw error;
      },
    );
    if (found === "invalid") {
      valid.delete(name);
      if (attempt.retryAfter !== undefined) throw new Refused(tooMany(attempt.retryAfter));
      if (!wasValid) log.warn("token.refused", { address });
      return found;
    }
    await attempt.succeed();
    valid.set(name, true);
    return found;
  };
};

/** Builds the protected resource metadata (RFC 9728). */
const buildMetadata = (resource: URL, issuers: readonly string[]) => ({
  resource: resource.href,
  ...(issuers.length === 0 ? {} : { authorization_servers: issuers }),
  scopes_supported: FIRST_SCOPES,
  bearer_methods_supported: ["header"],
  resource_name: "Receivables",
});

/**
 * Creates the function that returns the resource under the name by which a request called it: hosts compare it with the
 * address that a person typed (RFC 9728, section 3.3), and `localhost` and 127.0.0.1 are the same machine.
 */
const createResourceOf = (resource: URL): ((request: Request) => URL) => {
  const aliases = new Map(listLoopbackAliases(resource).map((alias) => [alias.host, alias]));
  return ({ headers }) => aliases.get(headers.get("host")?.toLowerCase() ?? "") ?? resource;
};

/** Returns the bearer token of a request as the SDK parses it; undefined if it has none. */
const findBearer = ({ headers }: Request): string | undefined => {
  const [, token] = /^bearer +(\S+)$/i.exec(headers.get("authorization")?.trim() ?? "") ?? [];
  return token === undefined ? undefined : `Bearer ${token}`;
};

/** Returns the challenge to a request without a token: no error code (RFC 6750, section 3.1). */
const challengeWithoutError = (resourceMetadataUrl: string): Response => {
  const scope = FIRST_SCOPES.join(" ");
  return refuseWith(401, "unauthorized", "Sign in to use this server.", {
    "WWW-Authenticate": `Bearer scope="${scope}", resource_metadata="${resourceMetadataUrl}"`,
  });
};

/** Creates a gate that requires a bearer token (RFC 6750) and names the authorization servers that issue it (RFC 9728). */
export const createBearerGate = ({ verify, resource, issuers, now, log }: BearerNeeds): Gate => {
  const verifyLimited = limitFailures({ verify, now, log });
  const resourceOf = createResourceOf(resource);
  const paths = [METADATA_PATH, new URL(getOAuthProtectedResourceMetadataUrl(resource)).pathname];

  const createVerifier = (called: URL, resourceMetadataUrl: string) => ({
    async verifyAccessToken(token: string) {
      const bearer = await verifyLimited(token);
      if (bearer === "forbidden") throw new Refused(forbidden());
      if (bearer === "invalid") {
        throw new OAuthError(OAuthErrorCode.InvalidToken, "The token is not valid here.");
      }
      const { expiresAt, ...caller } = bearer;
      return toAuthInfo(caller, { expiresAt, resource: called, resourceMetadataUrl });
    },
  });

  const refuse = (error: unknown, resourceMetadataUrl: string): Response => {
    if (error instanceof Refused) return error.response;
    if (error instanceof OAuthError) {
      return bearerAuthChallengeResponse(error, {
        requiredScopes: FIRST_SCOPES,
        resourceMetadataUrl,
      });
    }
    // The fetch to the issuer has logged it.
    if (error instanceof IssuerUnavailable) {
      return unavailable(" because the authorization server does not answer");
    }
    log.error("gate.failed", toErrorFields(error));
    return unavailable();
  };

  return {
    async admit(request) {
      const called = resourceOf(request);
      const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(called);
      try {
        const authorization = findBearer(request);
        // Hosts answer this with a sign-in and not with a refresh.
        if (authorization === undefined) return challengeWithoutError(resourceMetadataUrl);
        const verifier = createVerifier(called, resourceMetadataUrl);
        // The SDK returns what the verifier has returned.
        return (await verifyBearerToken(authorization, { verifier })) as CallerAuthInfo;
      } catch (error) {
        return refuse(error, resourceMetadataUrl);
      }
    },
    describe(request) {
      const path = new URL(request.url).pathname.replace(/\/$/, "");
      if (!paths.includes(path)) return undefined;
      return respondWithDocument(request, buildMetadata(resourceOf(request), issuers));
    },
  };
};
