import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { createHttpServer, type HttpOptions } from "../../src/mcp/http/http-server.ts";
import type { ServerOptions } from "../../src/mcp/server.ts";
import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { createMcpListener, serve } from "../../src/server/serve.ts";
import { OPEN } from "./hosts.ts";

/** Starts a server over stdio within this process, until the test ends; `lines` are those that it has written. */
export const openStdio = (front: ServerOptions) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = startStdio(front, { input, output });
  onTestFinished(() => server.close());
  let printed = "";
  output.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  return { input, server, lines: (): string[] => printed.split("\n").slice(0, -1) };
};

/** Starts a server over HTTP, until the test ends. Returns the address of its endpoint. */
export const openHttp = async (
  front: ServerOptions,
  options: HttpOptions = OPEN,
): Promise<string> => {
  const http = createHttpServer(front, options);
  const served = await serve(createMcpListener(http), { host: "127.0.0.1", port: 0 });
  onTestFinished(() => served.close());
  onTestFinished(() => http.close());
  return `${served.url}/mcp`;
};
