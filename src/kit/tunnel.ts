import { once } from "node:events";
import { request } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { trimBrackets } from "./network.ts";
import { authorizationOf } from "./proxy.ts";

/** Opens a tunnel through a proxy to an address that was checked: the proxy looks no name up. */
const openTunnel = async (proxy: URL, address: string, port: number, signal: AbortSignal) => {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  const authorization = authorizationOf(proxy);
  const connect = (proxy.protocol === "https:" ? requestSecure : request)({
    hostname: trimBrackets(proxy.hostname),
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path: `${host}:${port}`,
    headers: {
      Host: `${host}:${port}`,
      ...(authorization === undefined ? {} : { "Proxy-Authorization": authorization }),
    },
    agent: false,
    signal,
  });
  connect.end();
  const [response, socket] = (await once(connect, "connect")) as [{ statusCode?: number }, Socket];
  if (response.statusCode === 200) return socket;
  socket.destroy();
  throw new Error(`The proxy ${proxy.host} answered ${response.statusCode} to CONNECT.`);
};

/**
 * Opens TLS to the host of a URL at one of its checked addresses, through a proxy. The proxy gets the address and no
 * name, so that it cannot be led elsewhere than the check allows.
 */
export const connectThrough = async (
  proxy: URL,
  url: URL,
  [address = ""]: readonly string[],
  { signal, ca }: { signal: AbortSignal; ca?: string },
): Promise<TLSSocket> => {
  const tunnel = await openTunnel(proxy, address, Number(url.port || 443), signal);
  const servername = trimBrackets(url.hostname);
  const socket = connectTls({
    socket: tunnel,
    minVersion: "TLSv1.2",
    ...(isIP(servername) === 0 ? { servername } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
  await once(socket, "secureConnect", { signal });
  return socket;
};
