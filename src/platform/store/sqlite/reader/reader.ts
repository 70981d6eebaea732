import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
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
  readonly #queues = new Map<string, Job[]>();
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
    if (session.generation !== this.#generation) {
      return Promise.reject(new StoreUnavailable(new Error("the reader thread has ended")));
    }
    return new Promise((resolve, reject) => {
      this.#requests += 1;
      const message = { id: this.#requests, session: session.number, request };
      const queue = this.#queues.get(owner) ?? [];
      queue.push({ message, resolve, reject });
      this.#queues.set(owner, queue);
      if (this.#running === undefined) this.#runNext();
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#fail(new Error("the store is closed"));
    await worker?.terminate();
  }

  #take(): Job | undefined {
    for (const [owner, queue] of this.#queues) {
      const job = queue.shift();
      this.#queues.delete(owner);
      if (queue.length > 0) this.#queues.set(owner, queue);
      return job;
    }
    return undefined;
  }

  #runNext(): void {
    const job = this.#take();
    this.#running = job;
    if (job === undefined) {
      // An idle thread must not keep the process alive.
      this.#worker?.unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(job.message);
  }

  #start(): Worker {
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
    // First, so that the thread works while the rows are used.
    this.#runNext();
    if ("rows" in reply) job.resolve(reply.rows);
    else job.reject(toError(reply.fault));
  }

  #fail(error: Error): void {
    const jobs = [...this.#queues.values()].flat();
    if (this.#running !== undefined) jobs.unshift(this.#running);
    this.#queues.clear();
    this.#idle.length = 0;
    this.#running = undefined;
    this.#worker = undefined;
    this.#generation += 1;
    for (const job of jobs) job.reject(error);
  }
}
