import { sql } from "kysely";
import type { Counted, Counter } from "../../../kit/windows.ts";
import type { Db } from "../port.ts";
import { prepareQuery } from "../engine/prepared.ts";
import { countRemoved, removeRows } from "../engine/rows.ts";

/** Finds the count and the end of an open window; undefined if none is open. */
export const findCounter = (db: Db, key: string, now: number) =>
  db
    .selectFrom("counters")
    .selectAll()
    .where("key", "=", key)
    .where("window_ends_at", ">", now)
    .executeTakeFirst();

const counting = prepareQuery((db: Db, key: string, now: number, endsAt: number) =>
  db
    .insertInto("counters")
    .values({ key, count: 1, window_ends_at: endsAt })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet({
        count: sql`case when counters.window_ends_at > ${now} then counters.count + 1 else 1 end`,
        window_ends_at: sql`case when counters.window_ends_at > ${now} and counters.window_ends_at < ${endsAt} then counters.window_ends_at else ${endsAt} end`,
      }),
    )
    .returning(["count", "window_ends_at"]),
);

/**
 * Increments the count of the key's window; the first event opens the window. A window that was opened before the clock
 * was set back keeps its count, and ends `windowMs` from now at the latest.
 */
export const count = async (
  db: Db,
  key: string,
  now: number,
  windowMs: number,
): Promise<Counted> => {
  const [row] = await counting(db, key, now, now + windowMs);
  if (row === undefined) throw new Error("a counter was not counted");
  return { count: row.count, endsAt: row.window_ends_at };
};

/** The store's counters at a moment, for the limits that all processes share. */
export const createCounter = (db: Db, now: number): Counter => ({
  count: (key, windowMs) => count(db, key, now, windowMs),
  giveBack: (key, endsAt) => giveBack(db, key, endsAt),
});

/** Undoes one increment of the window that ends then; a later window of the key keeps its count. */
export const giveBack = async (tx: Db, key: string, windowEndsAt: number): Promise<void> => {
  await tx
    .updateTable("counters")
    .set({ count: sql`counters.count - 1` })
    .where("key", "=", key)
    .where("window_ends_at", "=", windowEndsAt)
    .where("count", ">", 0)
    .execute();
};

export const forget = (tx: Db, key: string) => removeRows(tx, "counters", { key });

const PURGED_AT_ONCE = 1000;

/** Removes windows that have ended, a bounded number at a time; returns how many were removed. */
export const purgeCounters = (tx: Db, now: number): Promise<number> => {
  const keys = tx.selectFrom("counters").select("key").where("window_ends_at", "<=", now);
  const ended = tx.deleteFrom("counters").where("window_ends_at", "<=", now);
  return countRemoved(ended.where("key", "in", keys.limit(PURGED_AT_ONCE)));
};
