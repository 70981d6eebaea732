import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports from which systems choose those of outgoing connections. */
const [FIRST, END] = [11_000, 32_000];

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  await once(server.close(), "close");
  return true;
};

/** Returns a port that nothing uses, for a program that must be told its port before it starts. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
};
