import { sql } from "kysely";
import type { Db } from "../port.ts";

/** Lists the steps of the schema that a database has, in order. */
export const listApplied = async (db: Db): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
};

/** Records that a version of the program has opened the store. */
export const recordVersion = async (db: Db, version: string, now: number): Promise<void> => {
  const rows = db.selectFrom("program_versions").select("version").where("version", "=", version);
  if ((await rows.executeTakeFirst()) !== undefined) return;
  await db
    .insertInto("program_versions")
    .values({ version, opened_at: now })
    .onConflict((conflict) => conflict.column("version").doNothing())
    .execute();
};

/** Returns the version that opened the store last for the first time. */
export const findNewestVersion = async (db: Db): Promise<string | undefined> => {
  const row = await db
    .selectFrom("program_versions")
    .select("version")
    .orderBy("opened_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.version;
};
