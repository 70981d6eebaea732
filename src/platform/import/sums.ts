import Big from "big.js";
import { createSpillMap } from "../store/engine/spill-map.ts";

/** The sums of a file's amounts by key, of which there may be more than fit in memory. */
export type Sums = {
  /** Adds an amount; undefined for one that is no number. */
  add(key: string, amount: unknown): void;
  /** Returns the sum of the amounts of a key, exactly. */
  find(key: string): number | undefined;
  close(): void;
};

/** Creates an empty collection of sums. */
export const createSums = (): Sums => {
  const sums = createSpillMap();
  return {
    add(key, amount) {
      if (typeof amount !== "number") return;
      sums.set(key, new Big(sums.get(key) ?? 0).plus(amount).toFixed());
    },
    find(key) {
      const text = sums.get(key);
      return text === undefined ? undefined : Number(text);
    },
    close: () => sums.close(),
  };
};
