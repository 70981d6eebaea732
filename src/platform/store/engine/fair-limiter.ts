import { type PoolUse, TooManyReads } from "../port.ts";

export type FairLimits = {
  /** Turns of all owners at a time. */
  total: number;
  /** Turns of one owner at a time. */
  perOwner: number;
  /** Waiting requests of one owner. */
  waiting: number;
  /** The longest wait, in milliseconds. */
  waitMs: number;
};

type Waiter = { admit(): void };

/** A concurrency limiter that serves owners in turn: one with many requests delays only itself. */
export class FairLimiter {
  readonly #limits: FairLimits;
  readonly #held = new Map<string, number>();
  /** The first owner is the next one served; one that was served goes to the end. */
  readonly #waiting = new Map<string, Waiter[]>();
  #total = 0;

  constructor(limits: FairLimits) {
    this.#limits = limits;
  }

  /** The number of turns in use. */
  get held(): number {
    return this.#total;
  }

  /** Returns the turns in use, the free ones, and the requests that wait. */
  use(pool: string): PoolUse {
    const waiting = [...this.#waiting.values()].reduce((sum, waiters) => sum + waiters.length, 0);
    return { pool, busy: this.#total, free: this.#limits.total - this.#total, waiting };
  }

  /**
   * Waits for a turn; returns the function that ends it.
   *
   * @throws {TooManyReads} when too many of the owner wait, or this one has waited too long
   */
  enter(owner: string, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const waiters = this.#waiting.get(owner) ?? [];
    if (waiters.length >= this.#limits.waiting) return Promise.reject(new TooManyReads());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve(this.#turn(owner));
        },
      };
      const refuse = (error: Error): void => {
        leave();
        this.#remove(owner, waiter);
        reject(error);
      };
      const abort = (): void => refuse(signal?.reason as Error);
      const timer = setTimeout(() => refuse(new TooManyReads()), this.#limits.waitMs);
      signal?.addEventListener("abort", abort);
      waiters.push(waiter);
      this.#waiting.set(owner, waiters);
      this.#admit();
    });
  }

  #turn(owner: string): () => void {
    this.#total += 1;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#total -= 1;
      const left = (this.#held.get(owner) ?? 1) - 1;
      if (left === 0) this.#held.delete(owner);
      else this.#held.set(owner, left);
      this.#admit();
    };
  }

  #remove(owner: string, waiter: Waiter): void {
    const left = (this.#waiting.get(owner) ?? []).filter((other) => other !== waiter);
    if (left.length === 0) this.#waiting.delete(owner);
    else this.#waiting.set(owner, left);
  }

  #next(): Waiter | undefined {
    if (this.#total >= this.#limits.total) return undefined;
    for (const [owner, waiters] of this.#waiting) {
      if ((this.#held.get(owner) ?? 0) >= this.#limits.perOwner) continue;
      const next = waiters.shift();
      this.#waiting.delete(owner);
      if (waiters.length > 0) this.#waiting.set(owner, waiters);
      return next;
    }
    return undefined;
  }

  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.admit();
  }
}

const SECOND = 1000;

/** Limits of open views of the store in one process. */
export const VIEWS: FairLimits = { total: 24, perOwner: 4, waiting: 64, waitMs: 60 * SECOND };
