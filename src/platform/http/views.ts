import type { Snapshot, Store } from "../store/port.ts";

/** How many views of the store the answers of one tenant hold at a time; further ones wait for theirs. */
const MOST_HELD = 4;

type Line = { held: number; waiting: (() => void)[] };

/** Gives a tenant's requests views of the store. */
export type View = (tenantId: string) => Promise<Snapshot>;

/**
 * Views by turns, a line for each tenant: they are few where the database is far away, and an answer holds one for as
 * long as its receiver takes to read it.
 */
export const createViews = (store: Pick<Store, "snapshot">): View => {
  const lines = new Map<string, Line>();

  const enter = async (tenantId: string): Promise<void> => {
    const line = lines.get(tenantId) ?? { held: 0, waiting: [] };
    lines.set(tenantId, line);
    if (line.held < MOST_HELD) line.held += 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
  };

  const leave = (tenantId: string): void => {
    const line = lines.get(tenantId);
    if (line === undefined) return;
    const next = line.waiting.shift();
    if (next !== undefined) return next();
    line.held -= 1;
    if (line.held === 0) lines.delete(tenantId);
  };

  return async (tenantId) => {
    await enter(tenantId);
    try {
      const snapshot = await store.snapshot();
      let isHeld = true;
      return {
        ...snapshot,
        async close() {
          if (!isHeld) return;
          isHeld = false;
          await snapshot.close().finally(() => leave(tenantId));
        },
      };
    } catch (error) {
      leave(tenantId);
      throw error;
    }
  };
};
