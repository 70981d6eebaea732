/** Work was refused because too much of it waits already, in all or under its own key, or because it waited too long. */
export class QueueFull extends Error {
  readonly ofKey: boolean;

  constructor(ofKey: boolean) {
    super("too much work is waiting");
    this.name = "QueueFull";
    this.ofKey = ofKey;
  }
}

export type FairQueueLimits = {
  /** Maximum number of turns at a time, in all and per key. */
  running: number;
  runningPerKey?: number;
  /** Maximum number of waiting requests, in all and per key. */
  waiting?: number;
  waitingPerKey: number;
  /** The longest wait, in milliseconds. */
  waitMs?: number;
};

export type FairQueue = {
  /**
   * Waits for a turn of the key; returns the function that ends it.
   *
   * @throws {QueueFull} when too many wait, or this one has waited too long
   */
  enter(key: string, signal?: AbortSignal): Promise<() => void>;
  /** Runs a task as soon as it is its key's turn. @throws {QueueFull} */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /** Refuses all waiting requests, because their turns would fail for the same reason. */
  refuseAll(error: Error): void;
  /** The number of turns in use. */
  running(): number;
  /** The number of waiting requests. */
  waiting(): number;
};

/** A request that waits for its turn. */
type Waiter = { admit(): void; refuse(error: Error): void };

/** The requests that wait, by key. The first key is the next one served; one that was served goes to the end. */
const createWaiters = () => {
  const queues = new Map<string, Waiter[]>();
  let count = 0;
  const replace = (key: string, left: Waiter[]): void => {
    if (left.length === 0) queues.delete(key);
    else queues.set(key, left);
  };
  return {
    count: (): number => count,
    countOf: (key: string): number => queues.get(key)?.length ?? 0,
    add(key: string, waiter: Waiter): void {
      queues.set(key, [...(queues.get(key) ?? []), waiter]);
      count += 1;
    },
    remove(key: string, waiter: Waiter): void {
      const known = queues.get(key) ?? [];
      if (!known.includes(waiter)) return;
      count -= 1;
      replace(
        key,
        known.filter((other) => other !== waiter),
      );
    },
    /** Takes the next request whose key may have a turn. */
    take(mayRun: (key: string) => boolean): Waiter | undefined {
      for (const [key, [next, ...rest]] of queues) {
        if (!mayRun(key)) continue;
        queues.delete(key);
        replace(key, rest);
        count -= 1;
        return next;
      }
      return undefined;
    },
    refuseAll(error: Error): void {
      for (const waiter of [...queues.values()].flat()) waiter.refuse(error);
    },
    /** Refuses the last request of the longest queue; false where no queue is longer than this. */
    displace(length: number): boolean {
      const [longest] = [...queues].toSorted(([, one], [, other]) => other.length - one.length);
      if (longest === undefined || longest[1].length <= length) return false;
      longest[1].at(-1)?.refuse(new QueueFull(false));
      return true;
    },
  };
};

/**
 * Creates a bounded queue whose keys take turns, so that a flood under one key delays others by one turn each. Where the
 * queue is full, a key with fewer waiting requests displaces the last request of the key with the most.
 */
export const createFairQueue = (limits: FairQueueLimits): FairQueue => {
  const { runningPerKey = Infinity, waiting = Infinity, waitingPerKey, waitMs } = limits;
  const held = new Map<string, number>();
  const waiters = createWaiters();
  let running = 0;

  const mayRun = (key: string): boolean =>
    running < limits.running && (held.get(key) ?? 0) < runningPerKey;

  const begin = (key: string): (() => void) => {
    running += 1;
    held.set(key, (held.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      const left = (held.get(key) ?? 1) - 1;
      if (left === 0) held.delete(key);
      else held.set(key, left);
      if (running < limits.running) waiters.take(mayRun)?.admit();
    };
  };

  const wait = (key: string, signal: AbortSignal | undefined): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const waiter: Waiter = {
      admit() {
        leave();
        resolve(begin(key));
      },
      refuse(error) {
        leave();
        waiters.remove(key, waiter);
        reject(error);
      },
    };
    const abort = (): void => waiter.refuse(signal?.reason as Error);
    const timer =
      waitMs === undefined
        ? undefined
        : setTimeout(() => waiter.refuse(new QueueFull(true)), waitMs);
    signal?.addEventListener("abort", abort);
    waiters.add(key, waiter);
    return promise;
  };

  const enter = async (key: string, signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted();
    if (mayRun(key)) return begin(key);
    if (waiters.countOf(key) >= waitingPerKey) throw new QueueFull(true);
    if (waiters.count() >= waiting && !waiters.displace(waiters.countOf(key) + 1)) {
      throw new QueueFull(false);
    }
    return wait(key, signal);
  };

  return {
    enter,
    async run(key, task) {
      const leave = await enter(key);
      try {
        return await task();
      } finally {
        leave();
      }
    },
    refuseAll: waiters.refuseAll,
    running: () => running,
    waiting: waiters.count,
  };
};
