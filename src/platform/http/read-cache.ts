import type { Store } from "../store/port.ts";

const MAX_ENTRIES = 10_000;

/** Returns the cached value under the key, or reads and caches it. */
export type CachedRead = <T>(key: string, read: () => Promise<T>) => Promise<T>;

/**
 * Creates a read cache that every change of the store invalidates, except new audit entries. Call the result once per
 * request. A store that cannot tell cheaply whether it has changed (`stamp` is undefined) is read each time.
 */
export const createReadCache = (store: Pick<Store, "stamp">): (() => CachedRead) => {
  let entries = new Map<string, Promise<unknown>>();
  let stampOfEntries: number | undefined;

  const readFrom =
    (cache: Map<string, Promise<unknown>>): CachedRead =>
    <T>(key: string, read: () => Promise<T>): Promise<T> => {
      const known = cache.get(key);
      if (known !== undefined) return known as Promise<T>;
      // The promise is cached, so that requests that arrive together share one read.
      const reading = read();
      cache.set(key, reading);
      reading.catch(() => cache.delete(key));
      return reading;
    };

  return () => {
    const stamp = store.stamp();
    if (stamp === undefined) return (_key, read) => read();
    if (stamp !== stampOfEntries || entries.size >= MAX_ENTRIES) {
      entries = new Map();
      stampOfEntries = stamp;
    }
    return readFrom(entries);
  };
};
