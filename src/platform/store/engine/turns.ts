import { createFairQueue, type FairQueue, QueueFull } from "../../../kit/fair-queue.ts";
import { SECOND } from "../../../kit/clock.ts";
import { type PoolUse, TooManyReads } from "../port.ts";

/** Limits of open views of the store in one process. */
const VIEWS = { running: 24, runningPerKey: 4, waitingPerKey: 64, waitMs: 60 * SECOND };

/** The turns at a bounded resource, which owners take one after the other: one with many requests delays only itself. */
export type Turns = {
  /** Waits for a turn; returns the function that ends it. @throws {TooManyReads} */
  enter(owner: string, signal?: AbortSignal): Promise<() => void>;
  /** Refuses all that wait, because their turns would fail for the same reason. */
  refuseAll(error: Error): void;
  use(): PoolUse;
};

/** Returns how far a queue of so many turns is used. */
export const describeUse = (pool: string, total: number, queue: FairQueue): PoolUse => ({
  pool,
  busy: queue.running(),
  free: total - queue.running(),
  waiting: queue.waiting(),
});

/** Creates the turns of open views; `total` where fewer may be open. */
export const createViewTurns = (total = VIEWS.running): Turns => {
  const queue = createFairQueue({ ...VIEWS, running: total });
  return {
    enter: (owner, signal) =>
      queue.enter(owner, signal).catch((error: unknown) => {
        throw error instanceof QueueFull ? new TooManyReads() : error;
      }),
    refuseAll: queue.refuseAll,
    use: () => describeUse("views", total, queue),
  };
};
