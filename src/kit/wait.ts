import { setTimeout as delay } from "node:timers/promises";

/** Waiting, and the chance that keeps many waiters from coming back at once. */
export type Wait = {
  /** Ends early, by rejecting, when the signal does. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  chance(): number;
};

export const systemWait: Wait = {
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
  chance: Math.random,
};
