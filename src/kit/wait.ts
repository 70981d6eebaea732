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

/** Waits for something that should end, but not for long. */
export const within = async (ms: number, act: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([act, late]).finally(() => clearTimeout(timer));
};
