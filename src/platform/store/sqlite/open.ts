import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Compilable, Kysely, sql } from "kysely";
import type { AuditKey, SigningNeeds } from "../audit-key.ts";
import { guarded, guardedDialect } from "../guard.ts";
import { migrate } from "../migrate.ts";
import { type Db, type Snapshot, type Store, StoreUnavailable } from "../port.ts";
import { readAuditKey, sealingWith } from "../signing.ts";
import type { Tables } from "../tables.ts";
import { sqliteDialect } from "./dialect.ts";
import { isSqliteOutage } from "./outage.ts";

// Waiting for another process's write; SQLite's own queue is unfair, so it is generous.
const BUSY_MS = 15_000;
const SNAPSHOTS_KEPT = 4;

const openDatabase = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: BUSY_MS, enableForeignKeyConstraints: true });
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = full");
  return database;
};

const kyselyOver = (database: DatabaseSync, exclusive: boolean): Db =>
  new Kysely<Tables>({
    dialect: guardedDialect(sqliteDialect(database, exclusive), isSqliteOutage),
  });

const connect = (path: string, exclusive: boolean): Promise<Db> =>
  guarded(isSqliteOutage, () => kyselyOver(openDatabase(path), exclusive));

const BATCH_ROWS = 200;

async function* streamRows<Row>(db: Db, query: Compilable<Row>): AsyncIterable<Row> {
  for await (const batch of db.getExecutor().stream<Row>(query.compile(), BATCH_ROWS)) {
    yield* batch.rows;
  }
}

// A file of its own, because it forgoes the flush to disk that the rest is owed.
const openCounting = async (path: string): Promise<Db> => {
  const db = await connect(path, false);
  await sql`pragma synchronous = off`.execute(db);
  await db.schema
    .createTable("counters")
    .ifNotExists()
    .addColumn("key", "text", (column) => column.primaryKey().notNull())
    .addColumn("count", "integer", (column) => column.notNull())
    .addColumn("window_ends_at", "integer", (column) => column.notNull())
    .execute();
  return db;
};

/** A store in one file, which other processes may have open too. */
export const openSqlite = async (path: string, signing: SigningNeeds): Promise<Store> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const writer = await connect(path, true);
  let auditKey: AuditKey;
  try {
    await migrate(
      writer as unknown as Kysely<never>,
      { text: "text", integer: "integer", double: "real" },
      sealingWith(signing),
    );
    auditKey = await readAuditKey(writer, signing);
  } catch (error) {
    await writer.destroy();
    throw error;
  }
  const readDatabase = await guarded(isSqliteOutage, () => openDatabase(path));
  const reader = kyselyOver(readDatabase, false);
  const version = readDatabase.prepare("pragma data_version");
  const counting = await openCounting(`${path}-counters`);
  const idle: Db[] = [];
  const snapshot = async (): Promise<Snapshot> => {
    const db = idle.pop() ?? (await connect(path, false));
    await sql`begin`.execute(db);
    return {
      db,
      stream: (query) => streamRows(db, query),
      async close() {
        await sql`commit`.execute(db);
        if (idle.length < SNAPSHOTS_KEPT) idle.push(db);
        else await db.destroy();
      },
    };
  };
  return {
    dialect: "sqlite",
    auditKey,
    read: reader,
    transaction: (act) => writer.transaction().execute(act),
    counting,
    // It counts the commits of every connection but the one that asks, which never writes.
    stamp() {
      try {
        return Number(version.get()?.["data_version"]);
      } catch (error) {
        throw isSqliteOutage(error) ? new StoreUnavailable(error) : error;
      }
    },
    snapshot,
    async ping() {
      await sql`select 1`.execute(reader);
    },
    async close() {
      await Promise.all([writer, reader, counting, ...idle].map((db) => db.destroy()));
    },
  };
};
