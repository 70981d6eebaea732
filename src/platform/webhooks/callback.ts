import { BlockedAddress, resolvePublic, type HostNeeds } from "../../kit/network.ts";

const PORT_HTTPS = 443;
const FIRST_FREE_PORT = 1024;
const BLANK = /[\s\p{C}]/u;

/** Parses and checks a callback URL, without resolving its host. */
export const parseCallback = (text: string): URL | string => {
  const url = BLANK.test(text) ? null : URL.parse(text);
  if (url === null) return "must be an absolute URL";
  if (!/^https?:$/.test(url.protocol)) return "must be an https URL";
  if (url.username + url.password !== "") return "must not hold a user name or password";
  const port = Number(url.port);
  if (url.port !== "" && port !== PORT_HTTPS && port < FIRST_FREE_PORT) {
    return `must have port ${PORT_HTTPS}, or one from ${FIRST_FREE_PORT} on`;
  }
  return url;
};

/**
 * Returns the allowed addresses of a callback's host. Unencrypted callbacks are allowed only to addresses of the allow-
 * list. @throws {BlockedAddress}, or the error of the resolver
 */
export const resolveCallback = async (url: URL, needs: HostNeeds): Promise<string[]> => {
  const addresses = await resolvePublic(url.hostname, needs);
  const isPlain = url.protocol === "http:";
  if (isPlain && !addresses.every((address) => needs.allowed.includes(address))) {
    throw new BlockedAddress(url.hostname);
  }
  return addresses;
};
