import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely } from "kysely";
import { Adapter, closeUnused, createDialect, createDriver } from "../../kit/sqlite/dialect.ts";
import { BUSY_MS } from "../../kit/sqlite/driver/connection.ts";
import { makeFolder } from "../../kit/make-folder.ts";
import { migrate, type ReadReleased } from "../migrate.ts";
import type { Db, OauthStore, StoredRecord, Tables } from "../port.ts";

const BATCH = 500;

const openDatabase = (path: string, synchronous: "full" | "normal"): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  database.exec("pragma journal_mode = wal");
  database.exec(`pragma synchronous = ${synchronous}`);
  return database;
};

const createDb = (database: DatabaseSync, exclusive: boolean): Db => {
  const driver = () => createDriver(database, { exclusive, retryMs: BUSY_MS });
  return new Kysely<Tables>({ dialect: createDialect(driver, new Adapter()) });
};

const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !==
  undefined;

/** Reads the platform's database file, in which released versions stored the records. */
const readReleasedFrom = (path: string): ReadReleased =>
  async function* readReleased() {
    if (!existsSync(path)) return;
    using database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    if (!hasTable(database, "oauth_records")) return;
    let rows: StoredRecord[] = [];
    for (const row of database.prepare("select * from oauth_records").iterate()) {
      rows.push(row as StoredRecord);
      if (rows.length < BATCH) continue;
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
  };

/**
 * Opens the store in a file of its own, which other processes may have open too. `platformPath` is the file of an
 * embedded platform, from which records of released versions are copied once.
 */
export const openSqlite = async (path: string, platformPath: string): Promise<OauthStore> => {
  await makeFolder(dirname(path));
  const writing = openDatabase(path, "full");
  const writer = createDb(writing, true);
  try {
    await migrate(writer, readReleasedFrom(platformPath));
  } catch (error) {
    await writer.destroy();
    throw error;
  }
  const counting = openDatabase(path, "normal");
  // Transactions retry asynchronously; SQLite's own wait would block the event loop.
  for (const database of [writing, counting]) database.exec("pragma busy_timeout = 0");
  const counter = createDb(counting, true);
  const reading = openDatabase(path, "full");
  const reader = createDb(reading, false);
  return {
    read: reader,
    transaction: (act) => writer.transaction().execute(act),
    count: (act) => counter.transaction().execute(act),
    async close() {
      await Promise.all([writer, counter, reader].map((db) => db.destroy()));
      closeUnused([writing, counting, reading]);
    },
  };
};
