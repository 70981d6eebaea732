import { isUtf8 } from "node:buffer";
import { Transform } from "node:stream";
import { callbackify } from "node:util";
import { findExceededLimitInTurns } from "../../kit/in-turns.ts";
import { isRecord, MESSAGE_LIMITS } from "../../kit/json.ts";
import {
  createIdScanner,
  mayHaveOddId,
  type MessageId,
  parseWithIds,
  scanId,
  scanIds,
  toMessageId,
} from "../message-ids.ts";
import { describeExceeded, readMessage, type Reading, toErrorMessage } from "../messages.ts";

const NEWLINE = "\n".charCodeAt(0);

// The SDK's transport ends the connection at more than 10 MiB.
const MAX_LINE_BYTES = 10 * 1024 * 1024;

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;

const FAILED = "Something went wrong in this server.";

/** Returns bytes without the byte order mark that Windows tools write before a text. */
export const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes;

type LineReading = { reading: Reading; text?: string };

/** Refuses each message of a line; without an id there is one. */
const invalid = (ids: readonly MessageId[], code: number, message: string): LineReading[] =>
  (ids.length === 0 ? [null] : ids).map((id) => ({ reading: { refusal: { id, code, message } } }));

/** Reads the messages in a line: one, or those of a batch. `text`: the line itself, where it can be passed on. */
const readLine = async (line: Buffer): Promise<LineReading[]> => {
  // Decoding invalid bytes would silently change the text, for example an account number.
  if (!isUtf8(line)) {
    const message = "The line has bytes that are not UTF-8; send it in UTF-8.";
    return invalid(scanIds(line), PARSE_ERROR, message);
  }
  const text = line.toString("utf8");
  if (text.trim() === "") return [];
  const exceeded = await findExceededLimitInTurns(text, MESSAGE_LIMITS);
  if (exceeded !== undefined) {
    return invalid(scanIds(line), INVALID_REQUEST, describeExceeded(exceeded));
  }
  const value = parseWithIds(text);
  if (value === undefined) return invalid(scanIds(line), PARSE_ERROR, "The line is not JSON.");
  if (!Array.isArray(value)) {
    const reading = readMessage(value);
    const isAsSent = reading !== "ignored" && "message" in reading && reading.message === value;
    return [isAsSent && !mayHaveOddId(text) ? { reading, text } : { reading }];
  }
  if (value.length > 0) return value.map((one) => ({ reading: readMessage(one) }));
  return invalid([], INVALID_REQUEST, "The batch has no messages.");
};

/** Returns a message as JSON; undefined for one that is nested more deeply than the stack is. */
const writeMessage = (message: object): string | undefined => {
  try {
    return JSON.stringify(message);
  } catch {
    return undefined;
  }
};

export type LineEvents = {
  /** Called for each message that is passed on. */
  onMessage: (message: Record<string, unknown>) => void;
  /** Called with the answer to a message that is not passed on. */
  onRefusal: (answer: string, reason: "too_long" | "invalid") => void;
  /** Called with an error that no code expected; its line is refused. */
  onFailure: (error: unknown) => void;
};

/** Creates the functions that pass a message on and refuse one. */
const createPasser = ({ onMessage, onRefusal }: Omit<LineEvents, "onFailure">) => {
  const refuse = (id: MessageId | null, code: number, message: string, isTooLong = false): void =>
    onRefusal(
      `${JSON.stringify(toErrorMessage({ id, code, message }))}\n`,
      isTooLong ? "too_long" : "invalid",
    );
  const pass = ({ reading, text }: LineReading, push: (line: string) => void): void => {
    if (reading === "ignored") return;
    if ("refusal" in reading) {
      const { id, code, message } = reading.refusal;
      return refuse(id, code, message);
    }
    const { message } = reading;
    const line = text ?? writeMessage(message);
    if (line !== undefined) {
      onMessage(message);
      return push(`${line}\n`);
    }
    const id = toMessageId(message["id"]);
    if (id !== undefined) refuse(id, INVALID_REQUEST, "The message is nested too deeply.");
  };
  return { refuse, pass };
};

/**
 * Passes on the messages of whole lines, one on each line; the last one needs no line end. Messages that the SDK would
 * drop, and lines of more than 10 MiB, are refused under their ids.
 */
export const createLineFilter = ({ onMessage, onRefusal, onFailure }: LineEvents): Transform => {
  let parts: Buffer[] = [];
  let bytes = 0;
  let scanner: ReturnType<typeof createIdScanner> | undefined;

  const add = (part: Buffer): void => {
    bytes += part.length;
    parts.push(part);
    if (bytes <= MAX_LINE_BYTES) return;
    scanner ??= createIdScanner();
    for (const one of parts) scanner.read(one);
    parts = [];
  };
  const { refuse, pass } = createPasser({ onMessage, onRefusal });
  const endLine = async (push: (line: string) => void): Promise<void> => {
    const line = withoutMark(Buffer.concat(parts));
    const id = scanner?.id() ?? null;
    const isTooLong = bytes > MAX_LINE_BYTES;
    parts = [];
    bytes = 0;
    scanner = undefined;
    if (isTooLong) {
      const message = `The line is longer than ${MAX_LINE_BYTES} bytes and was dropped; send less.`;
      return refuse(id, INVALID_REQUEST, message, true);
    }
    try {
      for (const one of await readLine(line)) pass(one, push);
    } catch (error) {
      onFailure(error);
      refuse(scanId(line) ?? null, INTERNAL_ERROR, FAILED);
    }
  };
  const readChunk = async (chunk: Buffer, push: (line: string) => void): Promise<void> => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      await endLine(push);
      from = at + 1;
    }
    add(chunk.subarray(from));
  };
  const readLast = async (push: (line: string) => void): Promise<void> => {
    if (bytes > 0) await endLine(push);
  };
  // Lines are read one after the other, so that their order is kept.
  const [onChunk, onEnd] = [callbackify(readChunk), callbackify(readLast)];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onChunk(chunk, (line) => this.push(line), done);
    },
    flush(done) {
      onEnd((line) => this.push(line), done);
    },
  });
};

/** Requests that have no answer yet. */
export const createPending = () => {
  const ids = new Set<unknown>();
  const waiting: (() => void)[] = [];
  const settle = (): void => {
    if (ids.size === 0) for (const resolve of waiting.splice(0)) resolve();
  };
  const end = (id: unknown): void => {
    ids.delete(id);
    settle();
  };
  return {
    end,
    add({ id, method, params }: Record<string, unknown>): void {
      // A subscription has no end of its own, and a cancelled request no answer.
      if (method === "notifications/cancelled" && isRecord(params)) end(params["requestId"]);
      else if (id !== undefined && method !== undefined && method !== "subscriptions/listen") {
        ids.add(id);
      }
    },
    /** Returns the answers to all requests that have none: errors of this server. */
    fail: (): string[] =>
      [...ids].map((id) => {
        end(id);
        const refusal = { id: id as MessageId, code: INTERNAL_ERROR, message: FAILED };
        return `${JSON.stringify(toErrorMessage(refusal))}\n`;
      }),
    /** Resolves when every request has its answer. */
    settled: (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve);
        settle();
      }),
  };
};
