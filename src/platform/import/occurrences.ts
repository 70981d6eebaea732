import { createSpillMap } from "../store/engine/spill-map.ts";

/** Counts occurrences of keys, of which there may be more than fit in memory. */
export const createOccurrences = () => {
  const counts = createSpillMap();
  return {
    /** Counts one occurrence and returns the count so far, 1 for the first. */
    count(key: string): number {
      const count = Number(counts.get(key) ?? 0) + 1;
      counts.set(key, String(count));
      return count;
    },
    /** Whether a key was counted. */
    has: (key: string): boolean => counts.get(key) !== undefined,
    close: (): void => counts.close(),
  };
};
