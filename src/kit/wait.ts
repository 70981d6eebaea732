import { setTimeout as delay } from "node:timers/promises";

/** Sleeping, and the jitter that keeps many waiting callers from retrying at the same time. */
export type Wait = {
  /** Rejects early when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a random number from 0 up to, but not including, 1. */
  chance(): number;
};

export const systemWait: Wait = {
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
  chance: Math.random,
};

/** Waits for a promise for at most `ms` milliseconds, and returns its result or undefined. */
export const waitAtMost = async <T>(ms: number, act: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  return Promise.race([act, timeout]).finally(() => clearTimeout(timer));
};
