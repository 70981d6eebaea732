import type { Store } from "../store/port.ts";

const MOST_KEPT = 10_000;

/** What was read from the store, for as long as nobody has committed anything since. */
export type Remember = <T>(key: string, read: () => Promise<T>) => Promise<T>;

/** A store that cannot tell cheaply whether it has changed is read each time. */
export const createRemember = (store: Pick<Store, "stamp">): Remember => {
  const kept = new Map<string, unknown>();
  let keptAt: number | undefined;
  return async <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const stamp = store.stamp();
    if (stamp === undefined) return read();
    if (stamp !== keptAt || kept.size >= MOST_KEPT) {
      kept.clear();
      keptAt = stamp;
    }
    if (kept.has(key)) return kept.get(key) as T;
    const value = await read();
    if (store.stamp() === stamp && keptAt === stamp) kept.set(key, value);
    return value;
  };
};
