import { SECOND } from "../../kit/clock.ts";
import { createFairQueue, QueueFull } from "../../kit/fair-queue.ts";
import { createWorkerPool, WorkerLimit } from "../../kit/worker-pool.ts";
import { type FileText, type TextReply, type TextRequest, Unreadable } from "./port.ts";

/** A file is read for so long at most; then its thread is ended. */
const MAX_MS = 10 * SECOND;

const readText = createWorkerPool<TextReply>({
  name: "text",
  // In the bundle, the worker's file lies next to the other chunks.
  program: new URL(
    import.meta.url.endsWith(".ts") ? "./worker.ts" : "text-worker.js",
    import.meta.url,
  ),
  maxMs: MAX_MS,
  deadlineMs: MAX_MS,
  maxHeapMib: 512,
  maxIdleHeapMib: 128,
});

/** Files are read two at a time; the callers take turns. */
const queue = createFairQueue({ running: 2, waiting: 200, waitingPerKey: 40 });

/** Runs with a turn to read files; callers with the same key share their turns. @throws {Unreadable} when too many wait */
export const withTurn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await queue.run(key, work);
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    throw new Unreadable("Too many files are being read. Try again in a few seconds.");
  }
};

/** Fewer bytes are copied, so that the caller still has them, for instance to hand the file itself over. */
const MAX_COPIED_BYTES = 1024 * 1024;

/** The bytes in a buffer of their own, which can be transferred. */
const inOwnBuffer = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
  const { buffer, byteLength } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  return isOwn && byteLength > MAX_COPIED_BYTES ? new Uint8Array(buffer) : new Uint8Array(bytes);
};

/**
 * Reads a part of a file as text in a thread, so that the event loop stays free. The bytes of a
 * large file are transferred: the caller does not have them afterwards.
 *
 * @throws {Unreadable}
 */
export const readInThread = async (
  { bytes, ...more }: Omit<TextRequest, "bytes"> & { bytes: Uint8Array },
  signal?: AbortSignal,
): Promise<FileText> => {
  const request = { ...more, bytes: inOwnBuffer(bytes) };
  try {
    const reply = await readText(request, [request.bytes.buffer], signal);
    if ("unreadable" in reply) throw new Unreadable(reply.unreadable);
    return reply.text;
  } catch (error) {
    if (signal?.aborted === true) throw new Unreadable("The call was canceled.");
    if (!(error instanceof WorkerLimit)) throw error;
    const what = error.exceeded === "time" ? `over ${MAX_MS / SECOND} seconds` : "too much memory";
    throw new Unreadable(`Reading the file takes ${what}.`);
  }
};
