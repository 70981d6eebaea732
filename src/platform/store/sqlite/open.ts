import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, sql } from "kysely";
import type { SigningNeeds } from "../audit-key.ts";
import { guard, guardDialect } from "../engine/guard.ts";
import { migrate } from "../migrations/migrate.ts";
import { type Db, type Store, StoreUnavailable } from "../port.ts";
import { readAuditKey, createSealing } from "../audit/signing.ts";
import type { Tables } from "../tables/schema.ts";
import { makeFolder } from "../../../kit/make-folder.ts";
import { closeUnused, type Use } from "../../../kit/sqlite/dialect.ts";
import { BUSY_MS } from "../../../kit/sqlite/driver/connection.ts";
import { isSqliteBusy, isSqliteOutage } from "../../../kit/sqlite/outage.ts";
import { createDatabaseDialect } from "./dialect.ts";
import { addFunctions } from "./reader/functions.ts";
import { SqliteSnapshots } from "./snapshots.ts";

/**
 * Pages that a connection keeps in memory: 16 MB in place of 2. A transaction that changes more writes pages to the log
 * before its commit, and often again.
 */
export const CACHE = "pragma cache_size = -16000";

const openDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: true });
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = full");
  database.exec(CACHE);
  return addFunctions(database);
};

const READER: Use = { exclusive: false, retryMs: 0 };

const createKysely = (database: DatabaseSync, use: Use): Db =>
  new Kysely<Tables>({
    dialect: guardDialect(createDatabaseDialect(database, use), isSqliteOutage),
  });

/** Opens the only writing connection, after migrating the file. */
const openWriter = async (path: string, signing: SigningNeeds) => {
  const database = await guard(isSqliteOutage, () => openDatabase(path));
  const starting = createKysely(database, { exclusive: true, retryMs: 0 });
  try {
    await migrate(
      starting as unknown as Kysely<never>,
      { text: "text", integer: "integer", double: "real" },
      createSealing(signing),
      signing.announceUpgrade,
    );
    const auditKey = await readAuditKey(starting, signing);
    // SQLite's own wait would block the event loop.
    await sql`pragma busy_timeout = 0`.execute(starting);
    return { writeDatabase: database, auditKey };
  } catch (error) {
    await starting.destroy();
    throw error;
  }
};

// A separate file, because counters are written without a flush to disk.
const openCounting = async (path: string): Promise<Db> => {
  const db = await guard(isSqliteOutage, () => createKysely(openDatabase(path), READER));
  await sql`pragma synchronous = off`.execute(db);
  await db.schema
    .createTable("counters")
    .ifNotExists()
    .addColumn("key", "text", (column) => column.primaryKey().notNull())
    .addColumn("count", "integer", (column) => column.notNull())
    .addColumn("window_ends_at", "integer", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("counters_window_ends_at")
    .ifNotExists()
    .on("counters")
    .column("window_ends_at")
    .execute();
  return db;
};

/** Opens a store in one file, which other processes may have open too. */
export const openSqlite = async (path: string, signing: SigningNeeds): Promise<Store> => {
  await makeFolder(dirname(path));
  const { writeDatabase, auditKey } = await openWriter(path, signing);
  const writer = createKysely(writeDatabase, { exclusive: true, retryMs: BUSY_MS });
  const readDatabase = await guard(isSqliteOutage, () => openDatabase(path));
  const reader = createKysely(readDatabase, READER);
  // It counts the commits of all other connections, which belong to other processes: those of this process only read.
  const version = writeDatabase.prepare("pragma data_version");
  let transactions = 0;
  const counting = await openCounting(`${path}-counters`);
  const snapshots = new SqliteSnapshots(path, readDatabase);
  const transaction = <T>(act: (tx: Db) => Promise<T>): Promise<T> =>
    writer.transaction().execute(act);
  return {
    dialect: "sqlite",
    auditKey,
    read: reader,
    async transaction(act) {
      try {
        return await transaction(act);
      } finally {
        // After the commit: what was read before it must not be taken for newer.
        transactions += 1;
      }
    },
    append: transaction,
    counting,
    stamp() {
      try {
        return transactions + Number(version.get()?.["data_version"]);
      } catch (error) {
        if (isSqliteBusy(error)) return undefined;
        throw isSqliteOutage(error) ? new StoreUnavailable(error) : error;
      }
    },
    snapshot: (options) => snapshots.open(options),
    pools: () => [snapshots.use()],
    // No process waits for announcements in a file.
    async announce() {},
    async ping() {
      await sql`select 1`.execute(reader);
    },
    async close() {
      await snapshots.close();
      await Promise.all([writer, reader, counting].map((db) => db.destroy()));
      closeUnused([writeDatabase, readDatabase]);
    },
  };
};
