import { hash } from "node:crypto";

/** Returns an ETag computed from the body. */
export const computeEtag = (body: string): string =>
  `"${hash("sha256", body, "base64url").slice(0, 32)}"`;

/** Tells whether If-None-Match names the ETag. */
export const matchesIfNoneMatch = (request: Pick<Request, "headers">, etag: string): boolean =>
  (request.headers.get("if-none-match") ?? "")
    .split(",")
    .some((known) => known.trim().replace(/^W\//, "") === etag || known.trim() === "*");

/** Headers of a response that shared caches may store. */
export const buildCacheHeaders = (seconds: number): { "Cache-Control": string } => ({
  "Cache-Control": `public, max-age=${seconds}`,
});
