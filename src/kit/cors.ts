import { findHostName, isLoopback } from "./network.ts";

/** Seconds for which browsers may remember the answer to a preflight. */
const MAX_AGE = "7200";

/** Names of headers, as `Access-Control-Request-Headers` lists them. */
const HEADER_NAMES = /^[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*$/;

/** Whether scripts of an origin may call the server. Origins are compared by scheme, name and port. */
export type OriginCheck = (origin: string, host?: string | null) => boolean;

/** Schemes of addresses without an origin of their own. */
const OPAQUE = ["about:", "blob:", "data:", "file:", "javascript:"];

/**
 * Returns an origin as browsers write it; undefined for other text. Extensions and desktop programs have schemes of their
 * own, such as `chrome-extension:`.
 */
export const parseOrigin = (text: string): string | undefined => {
  const url = URL.parse(text);
  if (url === null || url.host === "" || OPAQUE.includes(url.protocol)) return undefined;
  const { protocol, host, username, password, pathname, search, hash } = url;
  const isOrigin =
    `${username}${password}${search}${hash}` === "" && (pathname === "" || pathname === "/");
  return isOrigin ? `${protocol}//${host}`.toLowerCase() : undefined;
};

/**
 * Creates the check of `Origin`: pages of this machine on any port, pages of the server itself under the name by which
 * it was called, and the given origins.
 */
export const createOriginCheck = (origins: readonly string[]): OriginCheck => {
  const known = new Set(origins.map((origin) => parseOrigin(origin) ?? URL.parse(origin)?.origin));
  return (text, host) => {
    const origin = parseOrigin(text);
    if (origin === undefined || origin !== text.toLowerCase()) return false;
    if (known.has(origin)) return true;
    const url = new URL(origin);
    const isWeb = url.protocol === "http:" || url.protocol === "https:";
    return isWeb && (isLoopback(findHostName(url.host) ?? "") || url.host === host?.toLowerCase());
  };
};

/** Returns the headers of a response that scripts of the origin may read, with these headers among others. */
export const toCorsHeaders = (
  origin: string,
  exposed: readonly string[],
): Record<string, string> => ({
  "Access-Control-Allow-Origin": origin,
  "Access-Control-Expose-Headers": exposed.join(", "),
  Vary: "Origin",
});

/** Returns the headers of the answer to a preflight; `requested` are the headers that the script wants to send. */
export const toPreflightHeaders = (
  origin: string,
  methods: string,
  requested: string | null | undefined,
): Record<string, string> => ({
  "Access-Control-Allow-Origin": origin,
  "Access-Control-Allow-Methods": methods,
  ...(requested && HEADER_NAMES.test(requested)
    ? { "Access-Control-Allow-Headers": requested }
    : {}),
  "Access-Control-Max-Age": MAX_AGE,
  Vary: "Origin, Access-Control-Request-Headers",
});
