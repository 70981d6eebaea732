import { fileURLToPath } from "node:url";
import { isMainThread, Worker } from "node:worker_threads";
import { createFairQueue } from "../../../../kit/fair-queue.ts";
import { keepWorkingFolder } from "../../../../kit/working-folder.ts";
import { StoreUnavailable } from "../../port.ts";
import type { ReaderFault, ReaderMessage, ReaderReply, ReaderRequest } from "./messages.ts";

// The bundle has the thread's program beside its other files.
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./reader-thread.js", import.meta.url),
);

type Job = {
  message: ReaderMessage;
  resolve(rows: unknown[]): void;
  reject(error: Error): void;
};

const toError = ({ message, ...codes }: ReaderFault): Error =>
  Object.assign(new Error(message), codes);

/** A connection of a reader thread. It is lost when the thread ends. */
export type Session = { number: number; reader: Reader; generation: number };

/** A thread with read connections to one database. It does one request at a time; owners take turns. */
export class Reader {
  readonly #options: { path: string; timeout: number };
  readonly #queue = createFairQueue({ running: 1, waitingPerKey: Infinity });
  readonly #idle: Session[] = [];
  #worker: Worker | undefined;
  #running: Job | undefined;
  #requests = 0;
  #sessions = 0;
  #generation = 0;
  /** The number of sessions in use. */
  inUse = 0;

  constructor(path: string, timeout: number) {
    this.#options = { path, timeout };
  }

  acquire(): Session {
    this.inUse += 1;
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    this.#sessions += 1;
    return { number: this.#sessions, reader: this, generation: this.#generation };
  }

  release(session: Session): void {
    this.inUse -= 1;
    if (session.generation === this.#generation) this.#idle.push(session);
  }

  /** Adds a request behind the owner's others; resolves with its rows. */
  ask(owner: string, session: Session, request: ReaderRequest): Promise<unknown[]> {
    return this.#queue.run(owner, () => this.#send(session, request));
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#fail(new Error("the store is closed"));
    await worker?.terminate();
  }

  #send({ number, generation }: Session, request: ReaderRequest): Promise<unknown[]> {
    if (generation !== this.#generation) {
      return Promise.reject(new StoreUnavailable(new Error("the reader thread has ended")));
    }
    return new Promise((resolve, reject) => {
      this.#requests += 1;
      const message = { id: this.#requests, session: number, request };
      this.#running = { message, resolve, reject };
      this.#worker ??= this.#start();
      this.#worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      this.#worker.postMessage(message);
    });
  }

  #start(): Worker {
    if (isMainThread) keepWorkingFolder();
    const worker = new Worker(PROGRAM, { workerData: this.#options, name: "sqlite-reader" });
    worker.on("message", (reply: ReaderReply) => this.#settle(reply));
    const lose = (error: Error): void => {
      if (this.#worker === worker) this.#fail(new StoreUnavailable(error));
    };
    worker.on("error", lose);
    worker.on("exit", () => lose(new Error("the reader thread has ended")));
    return worker;
  }

  #settle(reply: ReaderReply): void {
    const job = this.#running;
    if (job?.message.id !== reply.id) return;
    this.#running = undefined;
    // An idle thread must not keep the process alive; the next request does.
    this.#worker?.unref();
    if ("rows" in reply) job.resolve(reply.rows);
    else job.reject(toError(reply.fault));
  }

  #fail(error: Error): void {
    const running = this.#running;
    this.#idle.length = 0;
    this.#running = undefined;
    this.#worker = undefined;
    this.#generation += 1;
    running?.reject(error);
  }
}
