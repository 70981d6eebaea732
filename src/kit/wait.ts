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

/** Waits for a promise for at most `ms` milliseconds. */
export const waitAtMost = async (ms: number, act: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([act, late]).finally(() => clearTimeout(timer));
};
