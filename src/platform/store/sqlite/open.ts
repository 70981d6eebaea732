import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult, sql } from "kysely";
import type { SigningNeeds, StoreAuditKey } from "../audit-key.ts";
import { createDirect } from "../engine/direct.ts";
import { guard, guardDialect } from "../engine/guard.ts";
import { migrate } from "../migrations/migrate.ts";
import { type Db, type Store, StoreUnavailable } from "../port.ts";
import { readAuditKey, createSealing } from "../audit/signing.ts";
import type { Tables } from "../tables/schema.ts";
import { makeFolder } from "../../../kit/make-folder.ts";
import {
  BUSY_MS,
  closeUnused,
  createReadingDriver,
  type Use,
} from "../../../kit/sqlite/dialect.ts";
import { Connection } from "../../../kit/sqlite/driver/connection.ts";
import { Flusher } from "../../../kit/sqlite/driver/flusher.ts";
import { WritingDriver } from "../../../kit/sqlite/driver/writer.ts";
import { isSqliteBusy, isSqliteOutage } from "../../../kit/sqlite/outage.ts";
import { createDatabaseDialect, createSqliteDialect } from "./dialect.ts";
import { addFunctions } from "./reader/functions.ts";
import { SqliteSnapshots } from "./snapshots.ts";

const openDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: true });
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = full");
  return addFunctions(database);
};

/**
 * Pages that the writing connection keeps in memory: 16 MB in place of 2. A transaction that changes more writes pages
 * to the log before its commit, and often again.
 */
export const WRITER_CACHE = "pragma cache_size = -16000";

const READER: Use = { exclusive: false, retryMs: 0 };

const createKysely = (database: DatabaseSync, use: Use): Db =>
  new Kysely<Tables>({
    dialect: guardDialect(createDatabaseDialect(database, use), isSqliteOutage),
  });

/** Opens the only writing connection, after migrating the file. */
const openWriter = async (
  path: string,
  signing: SigningNeeds,
): Promise<{ writeDatabase: DatabaseSync; auditKey: StoreAuditKey }> => {
  const database = await guard(isSqliteOutage, () => openDatabase(path));
  database.exec(WRITER_CACHE);
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

/**
 * Reads by the writing connection while no transaction is open on it: it keeps its pages over its own commits, whereas
 * each commit makes every other connection read its pages again.
 */
const createReader = (readDatabase: DatabaseSync, writeDatabase: DatabaseSync): Db => {
  const reading = new Connection(readDatabase);
  const writing = new Connection(writeDatabase);
  const execute = <Row>(query: CompiledQuery): QueryResult<Row> => {
    if (writing.inTransaction) return reading.execute(query);
    try {
      return writing.execute(query);
    } catch (error) {
      // It does not wait where SQLite needs the file for itself.
      if (isSqliteBusy(error)) return reading.execute(query);
      throw error;
    }
  };
  const connection: DatabaseConnection = {
    executeQuery: async (query) => execute(query),
    streamQuery: (query, size) => reading.streamQuery(query, size),
  };
  const dialect = createSqliteDialect(() => createReadingDriver(connection));
  return createDirect(dialect, isSqliteOutage).on(connection);
};

/** Has deferred transactions flushed beside the event loop. Returns what to await for all of them. */
const flushDeferred = (writer: WritingDriver, path: string): ReturnType<Store["deferAppends"]> => {
  // There Node empties the cache of the disk, too, which takes many times as long as SQLite's own flush.
  if (process.platform === "darwin") return () => undefined;
  writer.flushBy(new Flusher(`${path}-wal`));
  return () =>
    writer.flushed()?.catch((error: unknown) => {
      throw new StoreUnavailable(error);
    });
};

/** Opens a store in one file, which other processes may have open too. */
export const openSqlite = async (path: string, signing: SigningNeeds): Promise<Store> => {
  await makeFolder(dirname(path));
  const { writeDatabase, auditKey } = await openWriter(path, signing);
  const writer = new WritingDriver(writeDatabase, BUSY_MS);
  const { transaction } = createDirect(
    createSqliteDialect(() => writer),
    isSqliteOutage,
  );
  const readDatabase = await guard(isSqliteOutage, () => openDatabase(path));
  const reader = createReader(readDatabase, writeDatabase);
  // It counts the commits of all other connections, thus of other processes: the other ones of this process only read.
  const version = writeDatabase.prepare("pragma data_version");
  let transactions = 0;
  const counting = await openCounting(`${path}-counters`);
  const snapshots = new SqliteSnapshots(path, readDatabase);
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
    append: (act) =>
      transaction(async (tx) => {
        await act(tx);
        writer.deferFlush();
      }),
    deferAppends: () => flushDeferred(writer, path),
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
      if (writeDatabase.isOpen) await writer.destroy();
      await counting.destroy();
      closeUnused([readDatabase]);
    },
  };
};
