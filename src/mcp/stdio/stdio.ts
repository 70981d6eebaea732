import { isUtf8 } from "node:buffer";
import { type Readable, type Writable, Transform } from "node:stream";
import { toErrorFields } from "../../kit/log.ts";
import type { ServerOptions } from "../server.ts";
import { createHandshake, ENCODING_REFUSAL, refuseLength, refuseLine } from "./handshake.ts";

export type StdioServer = {
  /** Resolves after the host has disconnected or `close` was called; requests in progress are aborted by then. */
  closed: Promise<void>;
  close(): Promise<void>;
};

type Streams = { input: Readable; output: Writable };

const NEWLINE = "\n".charCodeAt(0);
// Handshakes are small: a longer line belongs to another request.
const MAX_BYTES = 65_536;

// The SDK's transport ends the connection at more than 10 MiB.
const MAX_LINE_BYTES = 10 * 1024 * 1024;

const END_EVENTS = ["end", "close"];

type LineChecks = {
  /** Called for each dropped line of more than `MAX_LINE_BYTES`. */
  onTooLong: () => void;
  /** Returns whether a line is passed on. */
  accept: (line: Buffer) => boolean;
};

/** Passes on whole lines, those that are short enough and acceptable. */
const createLineFilter = ({ onTooLong, accept }: LineChecks): Transform => {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > MAX_LINE_BYTES) parts = [];
    else parts.push(part);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at + 1));
        const line = Buffer.concat(parts);
        if (bytes > MAX_LINE_BYTES) onTooLong();
        else if (accept(line)) this.push(line);
        parts = [];
        bytes = 0;
        from = at + 1;
      }
      add(chunk.subarray(from));
      done();
    },
  });
};

/** Answers line by line until a line needs the server, then passes on the unread bytes from that line. */
const answerLines = (
  { input, output }: Streams,
  answer: (line: string) => string | undefined,
  handOver: (unread: Buffer) => void,
): { stop(): void } => {
  let unread = Buffer.alloc(0);
  const stop = (): void => {
    input.off("data", read);
  };
  const end = (): void => {
    stop();
    handOver(unread);
  };
  const read = (chunk: Buffer): void => {
    unread = Buffer.concat([unread, chunk]);
    for (let at = unread.indexOf(NEWLINE); at !== -1; at = unread.indexOf(NEWLINE)) {
      const line = unread.subarray(0, at);
      const text = isUtf8(line) ? answer(line.toString("utf8")) : ENCODING_REFUSAL;
      if (text === undefined) return end();
      if (text !== "") output.write(text);
      unread = unread.subarray(at + 1);
    }
    return unread.length > MAX_BYTES ? end() : undefined;
  };
  input.on("data", read);
  return { stop };
};

/**
 * Serves one host over two streams, stdin and stdout by default. Code is loaded on demand: this module answers the
 * handshake; the first other message loads the SDK and `server.ts`; the first request to the platform loads
 * `handlers.ts` with the contract.
 */
export const startStdio = (
  serverOptions: ServerOptions,
  { input = process.stdin, output = process.stdout }: Partial<Streams> = {},
): StdioServer => {
  const { log } = serverOptions;
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  const handshake = createHandshake(serverOptions);
  let server: Promise<{ close(): Promise<void> }> | undefined;

  const serve = async (unread: Buffer): Promise<{ close(): Promise<void> }> => {
    const rest = createLineFilter({
      onTooLong() {
        log.warn("mcp.line_too_long", { maxBytes: MAX_LINE_BYTES });
        output.write(refuseLength(MAX_LINE_BYTES));
      },
      accept(line) {
        const refusal = isUtf8(line) ? refuseLine(line.toString("utf8")) : ENCODING_REFUSAL;
        if (refusal !== undefined) output.write(refusal);
        return refusal === undefined;
      },
    });
    for (const line of handshake.initializationLines()) rest.write(`${line}\n`);
    rest.write(unread);
    // Before the import, so that no input is lost while the code is loaded.
    input.pipe(rest);
    input.once("close", () => rest.end());
    const { serveStreams } = await import("./stdio-server.ts");
    const answered = handshake.initializeId();
    return serveStreams(serverOptions, { input: rest, output, answered }, onClose);
  };

  const { stop } = answerLines({ input, output }, handshake.answer, (unread) => {
    for (const event of END_EVENTS) input.off(event, onClose);
    server = serve(unread);
    server.catch((error: unknown) => {
      log.error("mcp.failed", toErrorFields(error));
      onClose();
    });
  });
  for (const event of END_EVENTS) input.once(event, onClose);
  input.on("error", (error) => log.debug("mcp.stdio", toErrorFields(error)));

  return {
    closed,
    async close() {
      stop();
      input.unpipe();
      input.pause();
      await (await server)?.close();
      onClose();
    },
  };
};
