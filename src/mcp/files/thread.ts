import { Worker } from "node:worker_threads";
import { SECOND } from "../../kit/clock.ts";
import { createFairQueue, QueueFull } from "../../kit/fair-queue.ts";
import { type FileText, type TextReply, type TextRequest, Unreadable } from "./port.ts";

/** A file is read for so long at most; then its thread is ended. */
const MAX_MS = 10 * SECOND;
const MAX_HEAP_MIB = 512;
/** An idle thread is kept so long. */
const IDLE_MS = 30 * SECOND;
/** A thread that read more ends at once, and its memory with it. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

// In the bundle, the worker's file lies next to the other chunks.
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./worker.ts" : "text-worker.js",
  import.meta.url,
);

/** Files are read two at a time; the callers take turns. */
const queue = createFairQueue({ running: 2, waiting: 200, waitingPerKey: 40 });

type Idle = { thread: Worker; timer: NodeJS.Timeout };
const idle: Idle[] = [];

const createThread = (): Worker => {
  const thread = new Worker(PROGRAM, {
    name: "text",
    stdout: true,
    stderr: true,
    env: {},
    execArgv: ["--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  thread.unref();
  return thread;
};

const takeThread = (): Worker => {
  const kept = idle.pop();
  if (kept === undefined) return createThread();
  clearTimeout(kept.timer);
  return kept.thread;
};

const keepThread = (thread: Worker): void => {
  const timer = setTimeout(() => {
    const index = idle.findIndex((one) => one.thread === thread);
    if (index >= 0) idle.splice(index, 1);
    void thread.terminate();
  }, IDLE_MS);
  timer.unref();
  idle.push({ thread, timer });
};

const tooLong = (): Unreadable =>
  new Unreadable(`Reading the file takes over ${MAX_MS / SECOND} seconds.`);
const tooMuch = (): Unreadable => new Unreadable("Reading the file takes too much memory.");

/** Waits for the thread's answer. @throws {Unreadable} when the thread exceeds its time or memory */
const ask = async (
  thread: Worker,
  request: TextRequest,
  signal: AbortSignal | undefined,
): Promise<TextReply> => {
  const { promise, resolve, reject } = Promise.withResolvers<TextReply>();
  const timer = setTimeout(() => reject(tooLong()), MAX_MS);
  const fail = (error: Error & { code?: string }): void =>
    reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch() : error);
  const exit = (): void => reject(new Error("the thread that reads files ended"));
  const cancel = (): void => reject(new Unreadable("The call was canceled."));
  signal?.addEventListener("abort", cancel);
  thread.once("message", resolve).once("error", fail).once("exit", exit);
  try {
    thread.postMessage(request, [request.bytes.buffer]);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    thread.off("message", resolve).off("error", fail).off("exit", exit);
  }
};

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
  { bytes, ...request }: Omit<TextRequest, "bytes"> & { bytes: Uint8Array },
  signal?: AbortSignal,
): Promise<FileText> => {
  const size = bytes.byteLength;
  const thread = takeThread();
  let isReusable = false;
  try {
    const reply = await ask(thread, { ...request, bytes: inOwnBuffer(bytes) }, signal);
    if ("failure" in reply) throw new Error(reply.failure);
    if ("unreadable" in reply) throw new Unreadable(reply.unreadable);
    isReusable = size <= MAX_KEPT_BYTES;
    return reply.text;
  } finally {
    if (isReusable) keepThread(thread);
    else await thread.terminate();
  }
};
