import type { IncomingMessage } from "node:http";
import proxyAddr from "proxy-addr";
import { getClientAddress } from "../../kit/client-address.ts";
import { findClientNetwork } from "../../kit/network.ts";

const LOOPBACK = "127.0.0.1";

// Some proxies append the port of the connection.
const stripPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](?::\d{1,5})?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d{1,5}$/, "$1");

/**
 * Finds the address of a request's client. X-Forwarded-For counts only as far as its proxies are trusted; an entry that
 * is not an address is ignored in favour of the proxy's own. A request in memory has the address that its caller runs
 * on behalf of.
 */
export const createAddressOf = (trustedProxies: string[]) => {
  const trust = proxyAddr.compile(trustedProxies);
  return (incoming: IncomingMessage | undefined): string => {
    if (incoming === undefined) return getClientAddress() ?? LOOPBACK;
    const named = stripPort(proxyAddr(incoming, trust));
    if (findClientNetwork(named) !== undefined) return named;
    return incoming.socket.remoteAddress ?? LOOPBACK;
  };
};
