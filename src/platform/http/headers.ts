import type { NewId } from "../../kit/ids.ts";

const REQUEST_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the client's X-Request-Id where it is well-formed, else a new id. */
export const requestIdOf = (request: Request, newId: NewId): string => {
  const sent = request.headers.get("x-request-id");
  return sent !== null && REQUEST_ID.test(sent) ? sent : newId();
};

/** Returns a header's value; undefined for an empty one. The same value that was sent twice counts once. */
export const findHeader = (
  { headers }: Pick<Request, "headers">,
  name: string,
): string | undefined => {
  const text = headers.get(name)?.trim() ?? "";
  if (text === "") return undefined;
  const [first, ...others] = text.split(",").map((value) => value.trim());
  return first !== undefined && others.every((value) => value === first) ? first : text;
};

const SECURITY = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};

/** Headers of every response. */
export const buildCommonHeaders = (requestId: string): Record<string, string> => ({
  ...SECURITY,
  "X-Request-Id": requestId,
});

/** Adds the common headers that the response does not set itself. */
export const withSecurityHeaders = (response: Response, requestId: string): Response => {
  for (const [name, value] of Object.entries(buildCommonHeaders(requestId))) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
};
