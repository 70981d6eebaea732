import type { IncomingMessage } from "node:http";
import proxyAddr from "proxy-addr";

const LOOPBACK = "127.0.0.1";

/** How a request's address is found: X-Forwarded-For counts only as far as its proxies are trusted. */
export const createAddressOf = (trustedProxies: string[]) => {
  const trust = proxyAddr.compile(trustedProxies);
  return (incoming: IncomingMessage | undefined): string =>
    incoming === undefined ? LOOPBACK : proxyAddr(incoming, trust);
};
