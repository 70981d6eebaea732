import { Worker } from "node:worker_threads";
import { SECOND } from "../../../kit/clock.ts";
import { type Format, mismatch } from "../nest.ts";
import type { PdfReply } from "../pdf/worker.ts";
import { Refusal } from "../port.ts";

const HEAD = "%PDF-";
const END = "%%EOF";
// Readers look for the end in the last KiB, so that is where it has to be.
const TAIL_BYTES = 1024;
const MAX_MS = 60 * SECOND;
const MAX_HEAP_MIB = 512;

// The bundle has the thread's program beside its other parts.
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

/** Threads that wait for work. An idle thread does not keep the process alive. */
const idle: Worker[] = [];

const tooMuch = (): Refusal =>
  new Refusal("ARCHIVE_LIMIT", "The PDF takes too long or too much memory to read.");

/** Runs a PDF through a thread, so that the event loop stays free; ends a thread that does not answer. */
const readInThread = async (data: Uint8Array<ArrayBuffer>): Promise<PdfReply> => {
  const thread = idle.pop() ?? createThread();
  const { promise, resolve, reject } = Promise.withResolvers<PdfReply>();
  const timer = setTimeout(() => reject(tooMuch()), MAX_MS);
  const fail = (error: Error & { code?: string }): void =>
    reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch() : error);
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
  if (head.toString("latin1") !== HEAD) throw mismatch("The file does not begin like a PDF.");
  const tail = await bytes.read(Math.max(0, bytes.size - TAIL_BYTES), TAIL_BYTES);
  if (!tail.includes(END)) throw mismatch("The PDF is cut off: it has no end.");
  // A copy of its own: a buffer from the pool cannot be handed over.
  const data = Uint8Array.from(await bytes.read(0, bytes.size));
  const reply = await readInThread(data);
  if ("code" in reply) throw new Refusal(reply.code, reply.message);
  nest.budget.bytes(reply.unpacked);
};
