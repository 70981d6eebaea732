import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { LockedAdapter, migrateLocked } from "../../../kit/postgres/lock.ts";
import { migrate } from "../migrate.ts";
import type { Db, OauthStore, RecordRow, Tables } from "../port.ts";

const INT8 = 20;
const CONNECT_MS = 10_000;
const MAX_CONNECTIONS = 5;
const BATCH = 500;

// All integers here are epoch milliseconds or counts, which fit a double; pg would return them as text.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as never,
};

const createPool = (connectionString: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString,
    fallback_application_name: "receivables-mcp",
    types,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
  });
  // A query reports the loss of its connection; without listeners the event would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
};

/** Reads the table in which released versions stored the records, if the database has it. */
const readReleased = async function* readReleased(db: Db): AsyncIterable<RecordRow[]> {
  const table = await sql<{ name: string | null }>`
    select to_regclass('oauth_records')::text as name`.execute(db);
  if (table.rows[0]?.name == null) return;
  for (let offset = 0; ; offset += BATCH) {
    const { rows } = await sql<RecordRow>`
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
  const db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: createPool(url) }) });
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
