import { parentPort } from "node:worker_threads";
import { getMessage } from "../../kit/error.ts";
import type { WorkerReply } from "../../kit/worker-pool.ts";
import { type TextReply, type TextRequest, Unreadable } from "./port.ts";
import { readFileText } from "./read-file.ts";

/** After so many milliseconds no further page or sheet is begun, so that what was read is answered. */
const ENOUGH_MS = 6000;

const TOO_LARGE = "The file is damaged, or reading it takes too much memory.";

/** Whether a program of WebAssembly has ended, or memory is exhausted; the thread is of no further use then. */
const isExhausted = (error: unknown): boolean =>
  error instanceof Error && (error.name === "RuntimeError" || error instanceof RangeError);

/** A thread that read a larger file ends, since memory of WebAssembly never shrinks. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

const read = async (request: TextRequest): Promise<WorkerReply<TextReply>> => {
  const end = performance.now() + ENOUGH_MS;
  const isSmall = request.bytes.byteLength <= MAX_KEPT_BYTES;
  try {
    const text = await readFileText(request, () => performance.now() > end);
    return { value: { text }, heapBytes: isSmall ? process.memoryUsage().heapUsed : Infinity };
  } catch (error) {
    const heapBytes = Infinity;
    if (error instanceof Unreadable) return { value: { unreadable: error.message }, heapBytes };
    if (isExhausted(error)) return { value: { unreadable: TOO_LARGE }, heapBytes };
    return { failure: getMessage(error), heapBytes };
  }
};

const buffersOf = (reply: WorkerReply<TextReply>): ArrayBuffer[] =>
  "value" in reply && "text" in reply.value
    ? reply.value.text.pictures.map(({ data }) => data.buffer)
    : [];

const answer = async (request: TextRequest): Promise<void> => {
  const reply = await read(request);
  parentPort?.postMessage(reply, buffersOf(reply));
};

parentPort?.on("message", (request: TextRequest) => void answer(request));
