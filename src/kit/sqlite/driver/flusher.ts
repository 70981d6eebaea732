import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";

const flush = promisify(fdatasync);

/** Flushes one file to disk. Calls that arrive while a flush runs share the next one. */
export class Flusher {
  readonly #path: string;
  #file: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  #open(): number {
    this.#file ??= openSync(this.#path, "r+");
    return this.#file;
  }

  async #run(): Promise<void> {
    try {
      await flush(this.#open());
    } finally {
      this.#running = undefined;
    }
  }

  #start(): Promise<void> {
    this.#next = undefined;
    this.#running = this.#run();
    return this.#running;
  }

  /** Flushes beside the event loop. Resolves when everything that was written before the call is on disk. */
  flush(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    const start = (): Promise<void> => this.#start();
    this.#next ??= this.#running.then(start, start);
    return this.#next;
  }

  /** Flushes before it returns. */
  flushNow(): void {
    fdatasyncSync(this.#open());
  }

  /** Closes the file after the flushes that have begun. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#next, this.#running]);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
