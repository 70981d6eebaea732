import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Refusal, type ScannedFile, type Scanner, toVerdict } from "../scan/port.ts";
import { createMalwareRefusal } from "../scan/signatures.ts";

export type ClamdAddress = { host: string; port: number } | { path: string };

export type ClamdTimes = {
  connectMs: number;
  /** The longest pause during which clamd reads nothing of the file. */
  stallMs: number;
  /** From the last byte sent to the answer; clamd's own limit is two minutes. */
  answerMs: number;
};

const TIMES: ClamdTimes = { connectMs: 5000, stallMs: 30_000, answerMs: 150_000 };
const MAX_ANSWER_BYTES = 4096;
const MAX_NAME_LENGTH = 100;

const createClamdError = (message: string): Error => new Error(`clamd ${message}`);

/** Destroys the connection when `wait` takes longer than `ms`. */
const withTimeout = async <T>(socket: Socket, ms: number, what: string, wait: Promise<T>) => {
  const timer = setTimeout(() => socket.destroy(createClamdError(`took too long to ${what}`)), ms);
  try {
    return await wait;
  } finally {
    clearTimeout(timer);
  }
};

const HUNG_UP = "closed the connection during an upload. Set its StreamMaxLength to 50M or more.";

const isConnectionReset = (error: Error): boolean =>
  "syscall" in error && error.syscall !== "connect" && /EPIPE|ECONNRESET/.test(error.message);

/** Reads clamd's answer, which a NUL character ends. */
const readAnswer = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      const end = answer.indexOf("\0");
      if (end >= 0) resolve(answer.slice(0, end));
      else if (answer.length > MAX_ANSWER_BYTES) reject(createClamdError("answered too much"));
    });
    socket.on("error", (error) =>
      reject(isConnectionReset(error) ? createClamdError(HUNG_UP) : error),
    );
    socket.on("close", () => reject(createClamdError("ended the connection without an answer")));
  });

async function* toInstreamFrames(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from("zINSTREAM\0");
  for await (const chunk of bytes) {
    // A chunk of length zero ends the stream.
    if (chunk.byteLength === 0) continue;
    const head = Buffer.alloc(4);
    head.writeUInt32BE(chunk.byteLength);
    yield head;
    yield chunk;
  }
  yield Buffer.alloc(4);
}

/** Sends the frames until all are sent or clamd has answered: it answers early when it finds malware or a limit. */
const send = async (
  socket: Socket,
  frames: AsyncIterable<Uint8Array>,
  answer: Promise<unknown>,
  stallMs: number,
): Promise<void> => {
  let isAnswered = false;
  const settled = answer.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  for await (const frame of frames) {
    // clamd answers and closes at once when a file is too large; writing on would reset the connection and lose the answer.
    await setImmediate();
    if (isAnswered) return;
    if (socket.write(frame)) continue;
    const drained = Promise.race([once(socket, "drain"), settled]);
    await withTimeout(socket, stallMs, "take the file", drained).catch(() => settled);
  }
};

const ask = async (
  address: ClamdAddress,
  file: ScannedFile,
  { connectMs, stallMs, answerMs }: ClamdTimes,
): Promise<string> => {
  const bytes = await file.open();
  const socket = connect(address);
  const answer = readAnswer(socket);
  // The awaits below report the first failure; this avoids an unhandled rejection.
  answer.catch(() => {});
  try {
    await withTimeout(
      socket,
      connectMs,
      "connect",
      Promise.race([once(socket, "connect"), answer]),
    );
    await send(socket, toInstreamFrames(bytes), answer, stallMs);
    return await withTimeout(socket, answerMs, "answer", answer);
  } finally {
    socket.destroy();
    if (!bytes.locked) await bytes.cancel();
  }
};

const toPrintable = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, MAX_NAME_LENGTH);

/** Returns a signature's name without the hash that clamd's ExtendedDetectionInfo appends. */
const cleanName = (name: string): string =>
  name
    .replace(/\([0-9a-f]+:\d+\)$/i, "")
    .replaceAll(/[^A-Za-z0-9._/-]/g, "_")
    .slice(0, MAX_NAME_LENGTH);

const checkAnswer = (answer: string): void => {
  if (answer === "stream: OK") return;
  const [, name] = /^stream: (.+) FOUND$/.exec(answer) ?? [];
  if (name !== undefined) throw createMalwareRefusal(cleanName(name));
  if (/size limit exceeded/i.test(answer)) {
    throw new Refusal("TOO_LARGE", "The file exceeds the malware scanner's size limit.");
  }
  throw createClamdError(`answered: ${toPrintable(answer)}`);
};

export type ClamdNeeds = { address: ClamdAddress; before: Scanner; times?: Partial<ClamdTimes> };

/** Creates a scanner that asks clamd about files that `before` accepted. It throws when clamd is unreachable or fails. */
export const createClamdScanner = ({ address, before, times }: ClamdNeeds): Scanner => ({
  async scan(file) {
    const verdict = await before.scan(file);
    if (verdict.status !== "Available") return verdict;
    return toVerdict(async () => {
      checkAnswer(await ask(address, file, { ...TIMES, ...times }));
      return verdict;
    });
  },
});
