import { createServer, type RequestListener } from "node:http";
import { serve, type Served } from "../src/server/serve.ts";
import { closeNow, listen } from "../test/support/listen.ts";

/** Serves a listener as the programs do, on a free port of this machine. */
export const serveLocally = (listener: RequestListener): Promise<Served> =>
  serve(listener, { host: "127.0.0.1", port: 0 });

/** Serves a listener with nothing around it, on a free port of this machine. */
export const serveBare = async (listener: RequestListener) => {
  const server = createServer(listener);
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => closeNow(server) };
};

/** Tells the process that started this one what it needs to know, and closes everything when the input ends. */
export const announce = (said: object, close: () => unknown): void => {
  process.stdout.write(`${JSON.stringify(said)}\n`);
  process.stdin.resume().on("end", close);
};
