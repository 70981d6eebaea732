import { Worker } from "node:worker_threads";
import { SECOND } from "../../../kit/clock.ts";
import { type Format, mismatch } from "../scan-context.ts";
import type { PdfReply } from "../pdf/worker.ts";
import { Refusal } from "../port.ts";

const HEAD = "%PDF-";
const END = "%%EOF";
// PDF readers look for the end marker in the last KiB.
const TAIL_BYTES = 1024;
const MAX_MS = 60 * SECOND;
const MAX_HEAP_MIB = 512;

// In the bundle, the worker's file lies next to the other chunks.
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "../pdf/worker.ts" : "pdf-worker.js",
  import.meta.url,
);

const createThread = (): Worker => {
  const thread = new Worker(PROGRAM, {
    name: "pdf",
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
  new Refusal("ARCHIVE_LIMIT", "The PDF takes too long or too much memory to read.");

/** Parses a PDF in a worker thread, so that the event loop stays free; terminates a thread that times out. */
const readInThread = async (data: Uint8Array<ArrayBuffer>): Promise<PdfReply> => {
  const thread = idle.pop() ?? createThread();
  const { promise, resolve, reject } = Promise.withResolvers<PdfReply>();
  const timer = setTimeout(() => reject(createLimitRefusal()), MAX_MS);
  const fail = (error: Error & { code?: string }): void =>
    reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? createLimitRefusal() : error);
  const exit = (): void => reject(new Error("the thread that reads PDF files ended"));
  thread.once("message", resolve).once("error", fail).once("exit", exit);
  try {
    thread.postMessage(data, [data.buffer]);
    const reply = await promise;
    idle.push(thread);
    return reply;
  } catch (error) {
    await thread.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
    thread.off("message", resolve).off("error", fail).off("exit", exit);
  }
};

export const checkPdf: Format = async (bytes, nest) => {
  const head = await bytes.read(0, HEAD.length);
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin with %PDF-.");
  const tail = await bytes.read(Math.max(0, bytes.size - TAIL_BYTES), TAIL_BYTES);
  if (!tail.includes(END)) throw mismatch("The PDF is cut off: %%EOF is missing at its end.");
  // Copied: a buffer from the pool cannot be transferred to a thread.
  const data = Uint8Array.from(await bytes.read(0, bytes.size));
  const reply = await readInThread(data);
  if ("code" in reply) throw new Refusal(reply.code, reply.message);
  nest.budget.bytes(reply.unpacked);
};
