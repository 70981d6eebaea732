import { isUtf8 } from "node:buffer";
import type { Readable, Transform, Writable } from "node:stream";
import { MINUTE } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { waitAtMost } from "../../kit/wait.ts";
import type { ServerOptions } from "../server.ts";
import { createHandshake, type Handshake } from "./handshake.ts";
import { createLineFilter, createPending, withoutMark } from "./lines.ts";

export type StdioServer = {
  /** Resolves after the host has disconnected and what it sent is answered, or after `close` was called. */
  closed: Promise<void>;
  /** Reads no more, and answers what was read. */
  finish(): Promise<void>;
  close(): Promise<void>;
};

type Streams = { input: Readable; output: Writable };

const NEWLINE = "\n".charCodeAt(0);
// Handshakes are small: a longer line belongs to another request.
const MAX_BYTES = 65_536;

/** Longest time in which requests are answered after the end of the input. */
const ANSWER_MS = MINUTE;

/** Answers line by line until a line needs the server, then passes on the unread bytes from that line. */
const answerLines = (
  { input, output }: Streams,
  answer: (line: string) => string | undefined,
  handOver: (unread: Buffer) => void,
): { stop(): void; end(): void } => {
  let unread = Buffer.alloc(0);
  let isFirst = true;
  const stop = (): void => {
    input.off("data", read);
  };
  const leave = (): void => {
    stop();
    handOver(unread);
    unread = Buffer.alloc(0);
  };
  const readLine = (line: Buffer): boolean => {
    const bytes = isFirst ? withoutMark(line) : line;
    isFirst = false;
    // The server refuses a line that is not UTF-8.
    const text = isUtf8(bytes) ? answer(bytes.toString("utf8")) : undefined;
    if (text === undefined) leave();
    else if (text !== "") output.write(text);
    return text !== undefined;
  };
  const read = (chunk: Buffer): void => {
    unread = Buffer.concat([unread, chunk]);
    for (let at = unread.indexOf(NEWLINE); at !== -1; at = unread.indexOf(NEWLINE)) {
      if (!readLine(unread.subarray(0, at))) return;
      unread = unread.subarray(at + 1);
    }
    if (unread.length > MAX_BYTES) leave();
  };
  input.on("data", read);
  return {
    stop,
    /** Answers the last line, which may have no line end. */
    end() {
      if (unread.length > 0) readLine(unread);
    },
  };
};

/** Calls back once after the last byte of the input, or when it is closed without one. */
const onInputEnd = (input: Readable, act: () => void): void => {
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    act();
  };
  input.once("end", end);
  input.once("close", end);
};

/** Returns the handshake's answers; after an error that no code expected, the server handles the line. */
const guardAnswer =
  (log: Log, { answer }: Handshake) =>
  (line: string): string | undefined => {
    try {
      return answer(line);
    } catch (error) {
      log.error("mcp.failed", toErrorFields(error));
      return undefined;
    }
  };

type Pending = ReturnType<typeof createPending>;

/** Creates the stream of the messages that the server gets; the answers to others are written at once. */
const createMessages = (
  { log, output }: { log: Log; output: Writable },
  pending: Pending,
): Transform =>
  createLineFilter({
    onMessage: pending.add,
    onRefusal(answer, reason) {
      if (reason === "too_long") log.warn("mcp.line_too_long");
      output.write(answer);
    },
    onFailure: (error) => log.error("mcp.failed", toErrorFields(error)),
  });

/** Resolves when the reader has taken what was written, or has gone. */
const flush = (output: Writable): Promise<void> =>
  new Promise((resolve) => {
    if (output.writableLength === 0 || output.destroyed) return resolve();
    output.once("close", resolve);
    output.write("", () => resolve());
  });

/** Ends the messages after the answers to those that were read, which a slow reader still has to take. */
const drain = async (
  { messages, output }: { messages: Transform; output: Writable },
  pending: Pending,
  onRead: () => void,
): Promise<void> => {
  // Ends a last line without a line end; called back when all lines before it have been read.
  await new Promise((resolve) => {
    messages.write("\n", resolve);
  });
  onRead();
  await waitAtMost(
    ANSWER_MS,
    pending.settled().then(() => flush(output)),
  );
  messages.end();
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
  const pending = createPending();
  const ending = new AbortController();
  const open: ServerOptions["open"] = async (caller) => ({
    ...(await serverOptions.open(caller)),
    ending: ending.signal,
  });
  let server: Promise<{ close(): Promise<void> }> | undefined;
  let rest: Transform | undefined;

  const serve = async (messages: Transform): Promise<{ close(): Promise<void> }> => {
    const { serveStreams } = await import("./stdio-server.ts");
    const answered = handshake.initializeId();
    const streams = { input: messages, output, answered, onAnswered: pending.end };
    return serveStreams({ ...serverOptions, open }, streams, onClose);
  };

  const handOver = (unread: Buffer): void => {
    const messages = createMessages({ log, output }, pending);
    rest = messages;
    for (const line of handshake.initializationLines()) messages.write(`${line}\n`);
    // The handshake has answered the initialization.
    messages.write(unread, () => pending.end(handshake.initializeId()));
    // Before the import, so that no input is lost while the code is loaded.
    input.pipe(messages, { end: false });
    server = serve(messages);
    server.catch((error: unknown) => {
      log.error("mcp.failed", toErrorFields(error));
      for (const answer of pending.fail()) output.write(answer);
      onClose();
    });
  };

  const { stop, end } = answerLines({ input, output }, guardAnswer(log, handshake), handOver);
  const finish = async (): Promise<void> => {
    end();
    if (rest === undefined) return onClose();
    // The host cannot answer questions any more, and calls wait for its answers.
    await drain({ messages: rest, output }, pending, () => ending.abort());
  };
  onInputEnd(input, () => void finish());
  input.on("error", (error) => log.debug("mcp.stdio", toErrorFields(error)));

  const stopReading = (): void => {
    stop();
    input.unpipe();
    input.pause();
  };

  return {
    closed,
    finish() {
      stopReading();
      return finish();
    },
    async close() {
      stopReading();
      await (await server)?.close();
      onClose();
    },
  };
};
