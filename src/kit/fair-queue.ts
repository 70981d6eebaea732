/** Work was refused because too much of it waits already: in all, or under its own key. */
export class QueueFull extends Error {
  readonly ofKey: boolean;

  constructor(ofKey: boolean) {
    super("too much work is waiting");
    this.name = "QueueFull";
    this.ofKey = ofKey;
  }
}

export type FairQueueLimits = {
  /** Maximum number of concurrent tasks. */
  running: number;
  /** Maximum number of waiting tasks, in all and per key. */
  waiting: number;
  waitingPerKey: number;
};

export type FairQueue = {
  /** Runs a task as soon as it is its key's turn. Rejects with {@link QueueFull} where too many wait. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
  /** Returns how many tasks wait. */
  waiting(): number;
};

/** A task that waits for its turn. */
type Waiter = { start(): void; refuse(error: QueueFull): void };

/**
 * Creates a bounded queue whose keys take turns, so that a flood under one key delays others by one task each. Where the
 * queue is full, a key with fewer waiting tasks displaces the last task of the key with the most.
 */
export const createFairQueue = (limits: FairQueueLimits): FairQueue => {
  // A map iterates in insertion order: its first key is the one whose turn it is.
  const queues = new Map<string, Waiter[]>();
  let [running, waiting] = [0, 0];

  const startNext = (): void => {
    const [next] = queues;
    if (next === undefined) return;
    const [key, [start, ...rest]] = next;
    queues.delete(key);
    if (rest.length > 0) queues.set(key, rest);
    running += 1;
    waiting -= 1;
    start?.start();
  };

  /** Refuses the last task of the longest queue; false where no queue is longer than a new one would be. */
  const displace = (length: number): boolean => {
    const [longest] = [...queues].toSorted(([, one], [, other]) => other.length - one.length);
    if (longest === undefined || longest[1].length <= length) return false;
    const last = longest[1].pop();
    waiting -= 1;
    last?.refuse(new QueueFull(false));
    return true;
  };

  const enter = async (key: string): Promise<void> => {
    if (running < limits.running) {
      running += 1;
      return;
    }
    const queue = queues.get(key) ?? [];
    if (queue.length >= limits.waitingPerKey) throw new QueueFull(true);
    if (waiting >= limits.waiting && !displace(queue.length + 1)) throw new QueueFull(false);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queues.set(key, [...queue, { start: resolve, refuse: reject }]);
    waiting += 1;
    await promise;
  };

  return {
    async run(key, task) {
      await enter(key);
      try {
        return await task();
      } finally {
        running -= 1;
        startNext();
      }
    },
    waiting: () => waiting,
  };
};
