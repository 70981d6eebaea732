import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import type { SessionRow } from "../tables/schema.ts";
import { changeRows, countRemoved, removeRows } from "../engine/rows.ts";

/** Finds a session by the hash of its token, also one that has expired. */
export const findSession = prepareFind((db: Db, tokenHash: string) =>
  db.selectFrom("sessions").selectAll().where("token_hash", "=", tokenHash),
);

/** Lists a user's sessions, oldest first. */
export const listSessions = (db: Db, userId: string) =>
  db
    .selectFrom("sessions")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .execute();

/** Changes a session, and with that holds its row; returns whether it exists. */
export const updateSession = async (
  tx: Db,
  id: string,
  change: Partial<Pick<SessionRow, "verified_at" | "used_at">>,
): Promise<boolean> => (await changeRows(tx, "sessions", { id }, change)) > 0;

/** Records the last use of a session or API key, unless a later one is recorded. */
export const recordUse = async (
  tx: Db,
  table: "sessions" | "api_keys",
  id: string,
  at: number,
): Promise<void> => {
  await tx
    .updateTable(table)
    .set({ used_at: at })
    .where("id", "=", id)
    .where("used_at", "<", at)
    .execute();
};

export const removeSession = (tx: Db, id: string) => removeRows(tx, "sessions", { id });

const PURGED_AT_ONCE = 1000;

/** Removes a bounded number of the sessions created before a time; returns how many were removed. */
export const purgeSessions = (tx: Db, before: number): Promise<number> => {
  const old = tx.selectFrom("sessions").select("id").where("created_at", "<", before);
  return countRemoved(tx.deleteFrom("sessions").where("id", "in", old.limit(PURGED_AT_ONCE)));
};
