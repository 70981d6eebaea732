import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, connect, type Server } from "node:net";

/** Has a server listen on a free port of this machine. Returns the port. */
export const listen = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

/** Closes a server with all its connections. */
export const closeNow = async (
  server: Pick<HttpServer, "close" | "closeAllConnections" | "once">,
) => {
  const closed = new Promise((resolve) => server.once("close", resolve));
  server.close();
  server.closeAllConnections();
  await closed;
};

/** Returns whether a process of this machine accepts connections at a port. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
