import type { ServerResponse } from "node:http";
import type { OauthContext } from "./context.ts";
import { type Exchange, sendPage } from "./form.ts";
import { METADATA_PATHS, PATHS } from "./provider.ts";
import { retryAfter, tooManyAttempts } from "./refusal.ts";
import { errorPage } from "./sign-in-pages.ts";

export const PROTOCOL_PATHS: readonly string[] = [
  PATHS.token,
  PATHS.revocation,
  PATHS.jwks,
  PATHS.registration,
  ...METADATA_PATHS,
];

/** Sends an OAuth error (RFC 6749, section 5.2) with status 429. */
const refuse = (response: ServerResponse, why: string, waitMs: number): void => {
  response
    .writeHead(429, {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      ...retryAfter(waitMs),
    })
    .end(JSON.stringify({ error: "temporarily_unavailable", error_description: why }));
};

/** Counts a request. Sends a response with status 429 and returns true if its address exceeds a limit. */
export const isLimited = async (
  { attempts, registration, now }: OauthContext,
  exchange: Exchange,
  path: string,
): Promise<boolean> => {
  const { incoming, response, ip } = exchange;
  const isProtocol = PROTOCOL_PATHS.includes(path);
  const requestsEnd = await attempts.countRequest(isProtocol ? "protocol" : "pages", ip);
  if (requestsEnd !== undefined) {
    const waitMs = requestsEnd - now();
    const { status, message, headers } = tooManyAttempts(waitMs);
    if (isProtocol) refuse(response, "Too many requests from this address.", waitMs);
    else sendPage(exchange, errorPage(message, status), headers);
    return true;
  }
  if (path !== PATHS.registration || incoming.method !== "POST" || !registration) return false;
  const registrationsEnd = await attempts.countRegistration(ip);
  if (registrationsEnd === undefined) return false;
  const why = "Too many clients were registered from this address. Try again in an hour.";
  refuse(response, why, registrationsEnd - now());
  return true;
};
