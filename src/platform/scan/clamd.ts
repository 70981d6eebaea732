import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Refusal, type ScannedFile, type Scanner, verdictOf } from "./port.ts";
import { infected } from "./signatures.ts";

export type ClamdAddress = { host: string; port: number } | { path: string };

export type ClamdTimes = {
  connectMs: number;
  /** Without a byte taken. */
  stallMs: number;
  /** From the last byte sent to the answer; clamd itself gives up after two minutes. */
  answerMs: number;
};

const TIMES: ClamdTimes = { connectMs: 5000, stallMs: 30_000, answerMs: 150_000 };
const MAX_ANSWER_BYTES = 4096;
const MAX_NAME_LENGTH = 100;

const failure = (message: string): Error => new Error(`clamd ${message}`);

/** Fails the connection where what is waited for takes too long. */
const within = async <T>(
  socket: Socket,
  ms: number,
  what: string,
  wait: Promise<T>,
): Promise<T> => {
  const timer = setTimeout(() => socket.destroy(failure(`took too long to ${what}`)), ms);
  try {
    return await wait;
  } finally {
    clearTimeout(timer);
  }
};

const HUNG_UP = "hung up while it was sent a file. Is its StreamMaxLength 50M or more?";

const wasCut = (error: Error): boolean =>
  "syscall" in error && error.syscall !== "connect" && /EPIPE|ECONNRESET/.test(error.message);

/** What it answers, up to the NUL that ends it. */
const answerFrom = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      const end = answer.indexOf("\0");
      if (end >= 0) resolve(answer.slice(0, end));
      else if (answer.length > MAX_ANSWER_BYTES) reject(failure("answered too much"));
    });
    socket.on("error", (error) => reject(wasCut(error) ? failure(HUNG_UP) : error));
    socket.on("close", () => reject(failure("ended the connection without an answer")));
  });

async function* framed(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.from("zINSTREAM\0");
  for await (const chunk of bytes) {
    // An empty piece would be the end.
    if (chunk.byteLength === 0) continue;
    const head = Buffer.alloc(4);
    head.writeUInt32BE(chunk.byteLength);
    yield head;
    yield chunk;
  }
  yield Buffer.alloc(4);
}

/** Sends everything, or as much as there was before it answered: it may know enough by then. */
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
    // It answers and hangs up at once where a file is too large; to write then mostly loses the answer.
    await setImmediate();
    if (isAnswered) return;
    if (socket.write(frame)) continue;
    const drained = Promise.race([once(socket, "drain"), settled]);
    await within(socket, stallMs, "take the file", drained).catch(() => settled);
  }
};

const ask = async (
  address: ClamdAddress,
  file: ScannedFile,
  { connectMs, stallMs, answerMs }: ClamdTimes,
): Promise<string> => {
  const bytes = await file.open();
  const socket = connect(address);
  const answer = answerFrom(socket);
  // Whoever fails first is told below.
  answer.catch(() => {});
  try {
    await within(socket, connectMs, "connect", Promise.race([once(socket, "connect"), answer]));
    await send(socket, framed(bytes), answer, stallMs);
    return await within(socket, answerMs, "answer", answer);
  } finally {
    socket.destroy();
    if (!bytes.locked) await bytes.cancel();
  }
};

const plain = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, MAX_NAME_LENGTH);

/** A signature's name, without the hash that some settings put behind it. */
const cleanName = (name: string): string =>
  name
    .replace(/\([0-9a-f]+:\d+\)$/i, "")
    .replaceAll(/[^A-Za-z0-9._/-]/g, "_")
    .slice(0, MAX_NAME_LENGTH);

const judge = (answer: string): void => {
  if (answer === "stream: OK") return;
  const [, name] = /^stream: (.+) FOUND$/.exec(answer) ?? [];
  if (name !== undefined) throw infected(cleanName(name));
  if (/size limit exceeded/i.test(answer)) {
    throw new Refusal("TOO_LARGE", "The file is larger than the malware scanner takes.");
  }
  throw failure(`answered: ${plain(answer)}`);
};

export type ClamdNeeds = { address: ClamdAddress; before: Scanner; times?: Partial<ClamdTimes> };

/** Asks clamd about what another scanner let pass. It throws where clamd cannot be reached or fails. */
export const clamdScanner = ({ address, before, times }: ClamdNeeds): Scanner => ({
  async scan(file) {
    const verdict = await before.scan(file);
    if (verdict.status !== "Available") return verdict;
    return verdictOf(async () => judge(await ask(address, file, { ...TIMES, ...times })));
  },
});
