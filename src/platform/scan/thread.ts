import { Worker } from "node:worker_threads";
import { MINUTE } from "../../kit/clock.ts";
import { Refusal, type Verdict } from "./port.ts";
import type { ScanReply, ScanRequest } from "./worker.ts";

const MAX_MS = 2 * MINUTE;
const MAX_HEAP_MIB = 512;

// In the bundle, the worker's file lies next to the other chunks.
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./worker.ts" : "scan-worker.js",
  import.meta.url,
);

const createThread = (): Worker => {
  const thread = new Worker(PROGRAM, {
    name: "scan",
    stdout: true,
    stderr: true,
    env: {},
    execArgv: ["--no-warnings"],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  thread.unref();
  return thread;
};

/** Reusable worker threads. An idle thread does not keep the process alive. */
const idle: Worker[] = [];

const createLimitRefusal = (): Refusal =>
  new Refusal("ARCHIVE_LIMIT", "The file takes too long or too much memory to read.");

/**
 * Checks a file in a worker thread, so that the event loop stays free; terminates a thread that times out.
 *
 * @throws {Refusal} ARCHIVE_LIMIT when the thread exceeds its time or memory
 */
export const checkInThread = async (request: ScanRequest): Promise<Verdict> => {
  const thread = idle.pop() ?? createThread();
  const { promise, resolve, reject } = Promise.withResolvers<ScanReply>();
  const timer = setTimeout(() => reject(createLimitRefusal()), MAX_MS);
  const fail = (error: Error & { code?: string }): void =>
    reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? createLimitRefusal() : error);
  const exit = (): void => reject(new Error("the thread that checks files ended"));
  thread.once("message", resolve).once("error", fail).once("exit", exit);
  try {
    // Node's types do not know that a file handle can be transferred.
    thread.postMessage(request, [request.file as never]);
    const reply = await promise;
    idle.push(thread);
    if ("failure" in reply) throw new Error(reply.failure);
    return reply.verdict;
  } catch (error) {
    if (!idle.includes(thread)) await thread.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
    thread.off("message", resolve).off("error", fail).off("exit", exit);
  }
};
