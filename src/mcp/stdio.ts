import type { Readable, Writable } from "node:stream";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { errorFields } from "../kit/log.ts";
import type { Front } from "./needs.ts";
import { createBuildServer } from "./server.ts";

export type StdioServer = {
  /** Settles when the host has gone or `close` was called; what is still under way has been aborted by then. */
  closed: Promise<void>;
  close(): Promise<void>;
};

/** Serves one host over two streams, stdin and stdout unless told otherwise. */
export const startStdio = (
  front: Front,
  streams: { input?: Readable; output?: Writable } = {},
): StdioServer => {
  const build = createBuildServer(front);
  const wire = new StdioServerTransport(streams.input, streams.output);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const handle = serveStdio((context) => build(context), {
    transport: wire,
    onerror: (error) => {
      front.log.debug("mcp.stdio", errorFields(error));
    },
  });
  // The entry has put its own ear on the wire; this one only listens after it.
  const ended = wire.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  wire.onclose = () => {
    ended?.();
    resolve();
  };
  return {
    closed,
    async close() {
      await handle.close();
      resolve();
    },
  };
};
