import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { getMessage } from "../kit/error.ts";
import type { Db, StoredRecord } from "./port.ts";

const TABLE = "sign_in_migrations";

/** Yields the records that a released version stored in the platform's table `oauth_records`, in batches. */
export type ReadReleased = (db: Db) => AsyncIterable<StoredRecord[]>;

/** Both databases accept these type names; SQLite reads `bigint` as a 64-bit integer. */
const createTables: Migration = {
  async up(db) {
    await db.schema
      .createTable("sign_in_records")
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("grant_id", "text")
      .addColumn("owner", "text")
      .addColumn("payload", "text", (column) => column.notNull())
      .addColumn("consumed_at", "bigint")
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("sign_in_records_key", ["kind", "id"])
      .execute();
    for (const column of ["grant_id", "owner", "expires_at"]) {
      const index = db.schema.createIndex(`sign_in_records_${column}`).on("sign_in_records");
      await index.column(column).execute();
    }
    await db.schema
      .createTable("sign_in_counters")
      .addColumn("key", "text", (column) => column.primaryKey().notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addColumn("window_ends_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("sign_in_counters_window_ends_at")
      .on("sign_in_counters")
      .column("window_ends_at")
      .execute();
  },
};

/** Copies the grants of released versions, which stored them in the platform's database, so that people stay signed in. */
const copyReleased = (readReleased: ReadReleased): Migration => ({
  async up(db) {
    const tx = db as unknown as Db;
    for await (const rows of readReleased(tx)) {
      await tx.insertInto("sign_in_records").values(rows).execute();
    }
  },
});

/** Returns the error that names the steps of a later program; undefined if there are none. */
const describeNewer = async (db: Db, known: readonly string[]): Promise<Error | undefined> => {
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)}`.execute(db);
  const later = rows.map(({ name }) => name).filter((name) => !known.includes(name));
  if (later.length === 0) return undefined;
  return new Error(
    `The tables of the sign-in are newer than this program: a later version has applied ${later.join(", ")}. Run that version or a later one, or use another data folder (--data or RECEIVABLES_DATA) or database with this one.`,
  );
};

/** Brings the authorization server's tables to the newest version. Several processes may call it at once. */
export const migrate = async (db: Db, readReleased: ReadReleased): Promise<void> => {
  const steps = {
    "0001-tables": createTables,
    "0002-copy-released": copyReleased(readReleased),
  };
  const migrator = new Migrator({
    db,
    migrationTableName: TABLE,
    migrationLockTableName: "sign_in_migrations_lock",
    provider: { getMigrations: async () => steps },
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  // After an error of the database itself, the transaction reads nothing any more.
  const newer = await describeNewer(db, Object.keys(steps)).catch(() => undefined);
  if (newer !== undefined) throw newer;
  const message = `the tables of the built-in sign-in could not be created: ${getMessage(error)}`;
  throw new Error(message, { cause: error });
};
