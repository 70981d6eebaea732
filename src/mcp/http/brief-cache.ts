import { LRUCache } from "lru-cache";
import type { Clock } from "../../kit/clock.ts";

export type BriefCacheNeeds<T> = {
  load: (key: string) => Promise<T>;
  /** Milliseconds for which a result counts. */
  ms: number;
  now: Clock;
};

const MAX_ENTRIES = 10_000;

/** Returns `load` with results that are shared for a short time. A failure is not cached. */
export const createBriefCache = <T>({
  load,
  ms,
  now,
}: BriefCacheNeeds<T>): ((key: string) => Promise<T>) => {
  const results = new LRUCache<string, Promise<T>>({
    max: MAX_ENTRIES,
    ttl: ms,
    ttlResolution: 0,
    perf: { now },
  });
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = load(key);
    results.set(key, result);
    result.catch(() => results.delete(key));
    return result;
  };
};
