import type { NewId } from "../../kit/ids.ts";

const REQUEST_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** The sender's own id of a request where it is one, else a new one. */
export const requestIdOf = (request: Request, newId: NewId): string => {
  const sent = request.headers.get("x-request-id");
  return sent !== null && REQUEST_ID.test(sent) ? sent : newId();
};

const SECURITY = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};

/** What every answer bears, whatever it says. */
export const commonHeaders = (requestId: string): Record<string, string> => ({
  ...SECURITY,
  "X-Request-Id": requestId,
});

/** An answer with the common headers that it does not set itself. */
export const dressed = (response: Response, requestId: string): Response => {
  for (const [name, value] of Object.entries(commonHeaders(requestId))) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
};
