import type { Clock } from "./clock.ts";

/** The events of a window so far, and its end in epoch milliseconds. */
export type Counted = { count: number; endsAt: number };

/**
 * Counts events by key. The first event of a key opens its window; a window that was opened before the clock was set
 * back ends `windowMs` from now at the latest.
 */
export type Counter = {
  count(key: string, windowMs: number): Promise<Counted>;
  /** Takes back one event of the window that ends then. */
  giveBack(key: string, endsAt: number): Promise<void>;
};

/** At most `max` events under a key in a window. */
export type Budget = { key: string; max: number; windowMs: number };

export type Taken = {
  /** The state of each window that was counted. */
  states: Counted[];
  /** The end of the first window that is exceeded. */
  refusedUntil: number | undefined;
};

/**
 * Counts an event in each window, one after the other, up to the first that is exceeded. With `refund`, a refused event
 * counts in none of them.
 */
export const takeFrom = async (
  counter: Counter,
  budgets: readonly Budget[],
  { refund }: { refund: boolean },
): Promise<Taken> => {
  const states: Counted[] = [];
  for (const { key, max, windowMs } of budgets) {
    const counted = await counter.count(key, windowMs);
    states.push(counted);
    if (counted.count <= max) continue;
    if (refund) {
      for (const [place, state] of states.entries()) {
        await counter.giveBack(budgets[place]?.key ?? "", state.endsAt);
        state.count -= 1;
      }
    }
    return { states, refusedUntil: counted.endsAt };
  }
  return { states, refusedUntil: undefined };
};

/** Creates a counter of this process for the latest `most` keys. */
export const createMemoryCounter = (now: Clock, most: number): Counter => {
  // A map iterates in the order of insertion: its first key was counted longest ago.
  const windows = new Map<string, Counted>();
  return {
    async count(key, windowMs) {
      const latest = now() + windowMs;
      const known = windows.get(key);
      const isOpen = known !== undefined && now() < known.endsAt;
      const count = isOpen ? known.count + 1 : 1;
      const endsAt = isOpen ? Math.min(known.endsAt, latest) : latest;
      windows.delete(key);
      windows.set(key, { count, endsAt });
      const [oldest] = windows.keys();
      if (windows.size > most && oldest !== undefined) windows.delete(oldest);
      return { count, endsAt };
    },
    async giveBack(key, endsAt) {
      const known = windows.get(key);
      if (known?.endsAt === endsAt) known.count -= 1;
    },
  };
};
