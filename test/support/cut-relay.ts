import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type Address = { host: string; port: number };

/** A TCP relay that plays a network which is cut: connections stay open, and nothing arrives. */
export type CutRelay = {
  port: number;
  cut(): void;
  /** What was sent meanwhile arrives now. */
  heal(): void;
  close(): Promise<void>;
};

/** Starts a relay to an address; port 0 takes any free port. */
export const startCutRelay = async (own: Address, target: Address): Promise<CutRelay> => {
  let isCut = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const join = ([one, other]: readonly [Socket, Socket]): void => {
    one.pipe(other);
    other.pipe(one);
    if (one.destroyed || other.destroyed) for (const socket of [one, other]) socket.destroy();
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const pair = [socket, connect({ ...target, allowHalfOpen: true })] as const;
    pairs.add(pair);
    for (const end of pair) {
      end.setNoDelay(true).on("error", () => {});
      end.on("close", () => {
        if (isCut) return;
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
    if (!isCut) join(pair);
  }).listen(own.port, own.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const [one, other] of pairs) {
        one.unpipe(other);
        other.unpipe(one);
      }
    },
    heal() {
      isCut = false;
      for (const pair of pairs) join(pair);
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await once(server.close(), "close");
    },
  };
};
