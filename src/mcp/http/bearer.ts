import {
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
} from "@modelcontextprotocol/server";
import { errorFields, type Log } from "../../kit/log.ts";
import { admitted, type Caller } from "../caller.ts";
import type { Gate } from "./gate.ts";
import { IssuerAway } from "./issuer-fetch.ts";

/** The caller that a token identifies. `expiresAt`: seconds since the epoch, `Infinity` for a token without expiry. */
export type Bearer = Caller & { expiresAt: number };

/**
 * Whose a token is. `invalid` for one that is not known, has ended or is for another server; `forbidden` for one that is
 * good while its owner has nothing to do here. Throws when that cannot be found out now.
 */
export type Verify = (token: string) => Promise<Bearer | "invalid" | "forbidden">;

export type BearerNeeds = {
  verify: Verify;
  /** The address that hosts use, which tokens are for. */
  resource: URL;
  /** Who gives tokens; empty where a person hands them out. */
  issuers: readonly string[];
  log: Log;
};

const PREFIX = "/.well-known/oauth-protected-resource";
const PUBLIC = { "Access-Control-Allow-Origin": "*" };
const METHODS = "GET, HEAD, OPTIONS";
const RETRY_SECONDS = 10;

// The least that is of use: a host asks for more when a tool needs it.
const FIRST_SCOPES = ["read"];

class Forbidden extends Error {}

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

/** Creates a gate that requires a bearer token (RFC 6750) and names the authorization servers that issue it (RFC 9728). */
export const createBearerGate = ({ verify, resource, issuers, log }: BearerNeeds): Gate => {
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  const paths = [PREFIX, new URL(resourceMetadataUrl).pathname];
  const metadata = {
    resource: resource.href,
    ...(issuers.length === 0 ? {} : { authorization_servers: issuers }),
    scopes_supported: FIRST_SCOPES,
    bearer_methods_supported: ["header"],
    resource_name: "Receivables",
  };

  const verifyAccessToken = async (token: string) => {
    const bearer = await verify(token);
    if (bearer === "forbidden") throw new Forbidden();
    if (bearer === "invalid") {
      throw new OAuthError(OAuthErrorCode.InvalidToken, "The token is not valid here.");
    }
    const { expiresAt, ...caller } = bearer;
    return admitted(caller, { expiresAt, resource, resourceMetadataUrl });
  };

  const refuse = (error: unknown): Response => {
    if (error instanceof Forbidden) return forbidden();
    if (error instanceof OAuthError) {
      return bearerAuthChallengeResponse(error, {
        requiredScopes: FIRST_SCOPES,
        resourceMetadataUrl,
      });
    }
    // It was logged when it began.
    if (error instanceof IssuerAway) {
      return unavailable(", since the server that gives tokens does not answer");
    }
    log.error("gate.failed", errorFields(error));
    return unavailable();
  };

  return {
    async admit({ headers }) {
      let caller: ReturnType<typeof admitted> | undefined;
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
