import { createHash } from "node:crypto";

/** Names a body by what it says. */
export const etagOf = (body: string): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 32)}"`;

/** Whether the sender has that version already. */
export const isKnown = (request: Pick<Request, "headers">, etag: string): boolean =>
  (request.headers.get("if-none-match") ?? "")
    .split(",")
    .some((known) => known.trim().replace(/^W\//, "") === etag || known.trim() === "*");

/** Anybody may keep it that long. */
export const cachedFor = (seconds: number): { "Cache-Control": string } => ({
  "Cache-Control": `public, max-age=${seconds}`,
});
