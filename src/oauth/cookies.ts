import type { IncomingMessage } from "node:http";
import { SECOND } from "../kit/clock.ts";

export type Cookie = {
  read(incoming: Pick<IncomingMessage, "headers">): string | undefined;
  /** Returns the Set-Cookie header; without a lifetime the browser removes the cookie. */
  toHeader(value: string, lifetimeMs?: number): string;
};

/**
 * Describes one cookie of this server. Over https its name has the prefix `__Host-` (RFC 6265bis), so that no other host
 * of the domain can set it. Plain http, which is for loopback, cannot have that prefix.
 */
export const createCookie = (
  issuer: string,
  { name, path, sameSite }: { name: string; path: string; sameSite: "Lax" | "Strict" },
): Cookie => {
  const { protocol, pathname } = new URL(issuer);
  const isSecure = protocol === "https:";
  const fullName = isSecure ? `__Host-${name}` : name;
  const scope = isSecure ? "Path=/; Secure" : `Path=${pathname.replace(/\/$/, "")}${path}`;
  return {
    read: ({ headers }) =>
      (headers.cookie ?? "")
        .split(";")
        .map((pair) => pair.trim().split("="))
        .find(([found]) => found === fullName)?.[1],
    toHeader: (value, lifetimeMs = 0) =>
      `${fullName}=${value}; ${scope}; Max-Age=${lifetimeMs / SECOND}; HttpOnly; SameSite=${sameSite}`,
  };
};
