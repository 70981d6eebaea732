import type { Store } from "../store/port.ts";

const MOST_KEPT = 10_000;

/** Reads what a key names, or gives what was read under it before. */
export type Recall = <T>(key: string, read: () => Promise<T>) => Promise<T>;

/**
 * What was read from the store, for as long as nobody has committed anything since; to be asked for anew by each
 * request. A store that cannot tell cheaply whether it has changed is read each time.
 */
export const createRemember = (store: Pick<Store, "stamp">): (() => Recall) => {
  let kept = new Map<string, Promise<unknown>>();
  let keptAt: number | undefined;

  const recallFrom =
    (seen: Map<string, Promise<unknown>>): Recall =>
    <T>(key: string, read: () => Promise<T>): Promise<T> => {
      const known = seen.get(key);
      if (known !== undefined) return known as Promise<T>;
      // The promise is kept, so that requests that arrive together share one read.
      const reading = read();
      seen.set(key, reading);
      reading.catch(() => seen.delete(key));
      return reading;
    };

  return () => {
    const stamp = store.stamp();
    if (stamp === undefined) return (_key, read) => read();
    if (stamp !== keptAt || kept.size >= MOST_KEPT) {
      kept = new Map();
      keptAt = stamp;
    }
    return recallFrom(kept);
  };
};
