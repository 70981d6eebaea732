import { type Migration, Migrator } from "kysely/migration";
import { getMessage } from "../kit/error.ts";
import type { Db, StoredRecord } from "./port.ts";

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

/** Brings the authorization server's tables to the newest version. Several processes may call it at once. */
export const migrate = async (db: Db, readReleased: ReadReleased): Promise<void> => {
  const migrator = new Migrator({
    db,
    migrationTableName: "sign_in_migrations",
    migrationLockTableName: "sign_in_migrations_lock",
    provider: {
      getMigrations: async () => ({
        "0001-tables": createTables,
        "0002-copy-released": copyReleased(readReleased),
      }),
    },
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const message = `the tables of the built-in sign-in could not be created: ${getMessage(error)}`;
  throw new Error(message, { cause: error });
};
