import { Kysely, PostgresDialect, sql } from "kysely";
import { LockedAdapter, migrateLocked } from "../../kit/postgres/lock.ts";
import { createPool } from "../../kit/postgres/pool.ts";
import { migrate } from "../migrate.ts";
import type { Db, OauthStore, StoredRecord, Tables } from "../port.ts";

const MAX_CONNECTIONS = 5;
const BATCH = 500;

/** Reads the table in which released versions stored the records, if the database has it. */
const readReleased = async function* readReleased(db: Db): AsyncIterable<StoredRecord[]> {
  const table = await sql<{ name: string | null }>`
    select to_regclass('oauth_records')::text as name`.execute(db);
  if (table.rows[0]?.name == null) return;
  for (let offset = 0; ; offset += BATCH) {
    const { rows } = await sql<StoredRecord>`
      select kind, id, grant_id, owner, payload, consumed_at, expires_at from oauth_records
      order by kind, id limit ${BATCH} offset ${offset}`.execute(db);
    if (rows.length === 0) return;
    yield rows;
  }
};

class StoreDialect extends PostgresDialect {
  override createAdapter(): LockedAdapter {
    return new LockedAdapter();
  }
}

/** Opens the store in a PostgreSQL database, where it creates and uses its own tables only. */
export const openPostgres = async (url: string): Promise<OauthStore> => {
  const db = new Kysely<Tables>({
    dialect: new StoreDialect({ pool: createPool(url, { max: MAX_CONNECTIONS }) }),
  });
  try {
    await migrateLocked(db, (tx) => migrate(tx, readReleased));
  } catch (error) {
    await db.destroy();
    throw error;
  }
  const run: OauthStore["count"] = (act) => db.transaction().execute(act);
  return {
    read: db,
    transaction: (act, queue) =>
      run(async (tx) => {
        if (queue !== undefined) {
          await sql`select pg_advisory_xact_lock(hashtextextended(${queue}, 0))`.execute(tx);
        }
        return act(tx);
      }),
    // One statement each: it needs no transaction of its own.
    count: (act) => act(db),
    close: () => db.destroy(),
  };
};
