import { createHash } from "node:crypto";
import {
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { clientAddress } from "../../kit/client-address.ts";
import type { Clock } from "../../kit/clock.ts";
import { errorFields, type Log } from "../../kit/log.ts";
import { toAuthInfo, type Caller } from "../caller.ts";
import { createFailureLimiter } from "./failure-limiter.ts";
import type { Gate } from "./gate.ts";
import { IssuerUnavailable } from "./issuer-fetch.ts";

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
  /** The address that hosts use, which tokens are for. */
  resource: URL;
  /** Who gives tokens; empty where a person hands them out. */
  issuers: readonly string[];
  now: Clock;
  log: Log;
};

const PREFIX = "/.well-known/oauth-protected-resource";
const PUBLIC = { "Access-Control-Allow-Origin": "*" };
const METHODS = "GET, HEAD, OPTIONS";
const RETRY_SECONDS = 10;

// The least that is of use: a host asks for more when a tool needs it.
const FIRST_SCOPES = ["read"];

// Hashes of tokens that were valid, so that clients with one are not limited.
const MOST_KNOWN = 10_000;

class Forbidden extends Error {}

class TooManyFailures extends Error {
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super("too many invalid tokens");
    this.retryAfter = retryAfter;
  }
}

/** Answers with a public document, readable from any origin. */
const shown = ({ method }: Request, document: object): Response => {
  if (method === "OPTIONS") {
    const headers = { ...PUBLIC, "Access-Control-Allow-Methods": METHODS };
    return new Response(null, { status: 204, headers });
  }
  if (method !== "GET" && method !== "HEAD") {
    return new Response(null, { status: 405, headers: { ...PUBLIC, Allow: METHODS } });
  }
  const response = Response.json(document, { headers: PUBLIC });
  return method === "HEAD" ? new Response(null, response) : response;
};

const unavailable = (why = ""): Response =>
  Response.json(
    {
      error: "temporarily_unavailable",
      error_description: `The token cannot be checked now${why}; try again in ${RETRY_SECONDS} seconds.`,
    },
    { status: 503, headers: { "Retry-After": String(RETRY_SECONDS) } },
  );

const forbidden = (): Response =>
  Response.json(
    { error: "access_denied", error_description: "Nobody has given you a profile on this server." },
    { status: 403 },
  );

const tooMany = (seconds: number): Response =>
  Response.json(
    {
      error: "too_many_requests",
      error_description: `Too many invalid tokens came from this address; try again in ${seconds} seconds with a valid one.`,
    },
    { status: 429, headers: { "Retry-After": String(seconds) } },
  );

/**
 * Limits invalid tokens by the client's address. A token that was valid here is checked without the limit, and gets an
 * ordinary answer when it ends, so that its host signs in again.
 */
const limitFailures = ({ verify, now }: Pick<BearerNeeds, "verify" | "now">): Verify => {
  const failures = createFailureLimiter(now);
  const known = new LRUCache<string, true>({ max: MOST_KNOWN });
  return async (token) => {
    const name = createHash("sha256").update(token).digest("base64url");
    const wasValid = known.get(name) === true;
    const attempt = failures.begin(wasValid ? undefined : clientAddress());
    const found = await verify(token, attempt.retryAfter !== undefined).catch((error: unknown) => {
      attempt.succeed();
      throw error;
    });
    if (found === "invalid") {
      known.delete(name);
      if (attempt.retryAfter !== undefined) throw new TooManyFailures(attempt.retryAfter);
      return found;
    }
    attempt.succeed();
    known.set(name, true);
    return found;
  };
};

/** Builds the protected resource metadata (RFC 9728). */
const buildMetadata = ({ resource, issuers }: Pick<BearerNeeds, "resource" | "issuers">) => ({
  resource: resource.href,
  ...(issuers.length === 0 ? {} : { authorization_servers: issuers }),
  scopes_supported: FIRST_SCOPES,
  bearer_methods_supported: ["header"],
  resource_name: "Receivables",
});

/** Creates a gate that requires a bearer token (RFC 6750) and names the authorization servers that issue it (RFC 9728). */
export const createBearerGate = ({ verify, resource, issuers, now, log }: BearerNeeds): Gate => {
  const verifyLimited = limitFailures({ verify, now });
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  const paths = [PREFIX, new URL(resourceMetadataUrl).pathname];
  const metadata = buildMetadata({ resource, issuers });

  const verifyAccessToken = async (token: string) => {
    const bearer = await verifyLimited(token);
    if (bearer === "forbidden") throw new Forbidden();
    if (bearer === "invalid") {
      throw new OAuthError(OAuthErrorCode.InvalidToken, "The token is not valid here.");
    }
    const { expiresAt, ...caller } = bearer;
    return toAuthInfo(caller, { expiresAt, resource, resourceMetadataUrl });
  };

  const refuse = (error: unknown): Response => {
    if (error instanceof Forbidden) return forbidden();
    if (error instanceof TooManyFailures) return tooMany(error.retryAfter);
    if (error instanceof OAuthError) {
      return bearerAuthChallengeResponse(error, {
        requiredScopes: FIRST_SCOPES,
        resourceMetadataUrl,
      });
    }
    // It was logged when it began.
    if (error instanceof IssuerUnavailable) {
      return unavailable(", since the server that gives tokens does not answer");
    }
    log.error("gate.failed", errorFields(error));
    return unavailable();
  };

  return {
    async admit({ headers }) {
      let caller: ReturnType<typeof toAuthInfo> | undefined;
      const verifier = {
        async verifyAccessToken(token: string) {
          caller = await verifyAccessToken(token);
          return caller;
        },
      };
      try {
        await verifyBearerToken(headers.get("authorization"), { verifier });
        if (caller === undefined) throw new Error("a token was taken for good unread");
        return caller;
      } catch (error) {
        return refuse(error);
      }
    },
    describe(request) {
      const path = new URL(request.url).pathname.replace(/\/$/, "");
      return paths.includes(path) ? shown(request, metadata) : undefined;
    },
  };
};
