import { PassThrough, type Readable, type Writable } from "node:stream";
import { toErrorFields } from "../../kit/log.ts";
import type { ServerOptions } from "../server.ts";
import { createHandshake } from "./handshake.ts";

export type StdioServer = {
  /** Settles when the host has gone or `close` was called; what is still under way has been aborted by then. */
  closed: Promise<void>;
  close(): Promise<void>;
};

type Streams = { input: Readable; output: Writable };

const NEWLINE = "\n".charCodeAt(0);
// The greeting is small; whoever sends more at once does not only ask for lists.
const MOST_BYTES = 65_536;

const ENDS = ["end", "close"];

/** Answers line by line until a line needs the server; then gives what is unread, with that line first. */
const listen = (
  { input, output }: Streams,
  answer: (line: string) => string | undefined,
  handOver: (unread: Buffer) => void,
): { leave(): void } => {
  let unread = Buffer.alloc(0);
  const leave = (): void => {
    input.off("data", hear);
  };
  const end = (): void => {
    leave();
    handOver(unread);
  };
  const hear = (chunk: Buffer): void => {
    unread = Buffer.concat([unread, chunk]);
    for (let at = unread.indexOf(NEWLINE); at !== -1; at = unread.indexOf(NEWLINE)) {
      const text = answer(unread.toString("utf8", 0, at));
      if (text === undefined) return end();
      if (text !== "") output.write(text);
      unread = unread.subarray(at + 1);
    }
    return unread.length > MOST_BYTES ? end() : undefined;
  };
  input.on("data", hear);
  return { leave };
};

/**
 * Serves one host over two streams, stdin and stdout unless told otherwise. What is loaded when: with this module the
 * answers to what every host asks first; with the first other message the SDK and `server.ts`; with the first call of a
 * tool, or a resource, prompt or completion asked for, `work.ts` and with it the contract and the way to the platform.
 */
export const startStdio = (
  front: ServerOptions,
  { input = process.stdin, output = process.stdout }: Partial<Streams> = {},
): StdioServer => {
  const { promise: closed, resolve: gone } = Promise.withResolvers<void>();
  const opening = createHandshake(front);
  let server: Promise<{ close(): Promise<void> }> | undefined;

  const serve = async (unread: Buffer): Promise<{ close(): Promise<void> }> => {
    const rest = new PassThrough();
    for (const line of opening.heard()) rest.write(`${line}\n`);
    rest.write(unread);
    // At once, so that nothing is lost while the code is loaded.
    input.pipe(rest);
    input.once("close", () => rest.end());
    const { serveStreams } = await import("./stdio-server.ts");
    return serveStreams(front, { input: rest, output, answered: opening.greeted() }, gone);
  };

  const { leave } = listen(
    { input, output },
    (line) => opening.answer(line),
    (unread) => {
      for (const event of ENDS) input.off(event, gone);
      server = serve(unread);
      server.catch((error: unknown) => {
        front.log.error("mcp.failed", toErrorFields(error));
        gone();
      });
    },
  );
  for (const event of ENDS) input.once(event, gone);
  input.on("error", (error) => {
    front.log.debug("mcp.stdio", toErrorFields(error));
  });

  return {
    closed,
    async close() {
      leave();
      input.unpipe();
      input.pause();
      await (await server)?.close();
      gone();
    },
  };
};
