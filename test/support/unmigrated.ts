import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Dialect as SqlDialect, Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { createSealing } from "../../src/platform/store/audit/signing.ts";
import type { Types } from "../../src/platform/store/migrations/addition.ts";
import { listMigrations } from "../../src/platform/store/migrations/migrate.ts";
import type { Db } from "../../src/platform/store/port.ts";
import { CopyingClient, createPostgresDialect } from "../../src/platform/store/postgres/dialect.ts";
import { createDatabaseDialect } from "../../src/platform/store/sqlite/dialect.ts";
import { createTestPool } from "./postgres.ts";
import { signingIn } from "./signing.ts";
import type { Database, Dialect } from "./stores.ts";

/** A database for tests that run the migrations themselves. */
export type Unmigrated = { dialect: SqlDialect; types: Types };

/** Opens an SQLite file in the folder without migrating it. */
export const openUnmigratedSqlite = (folder: string): Unmigrated => ({
  dialect: createDatabaseDialect(new DatabaseSync(join(folder, "receivables.db")), {
    exclusive: true,
    retryMs: 0,
  }),
  types: { text: "text", integer: "integer", double: "real" },
});

/** Opens a PostgreSQL database without migrating it. */
export const openUnmigratedPostgres = (url: string): Unmigrated => ({
  dialect: createPostgresDialect(createTestPool({ Client: CopyingClient, connectionString: url })),
  types: { text: sql`text collate "C"`, integer: "bigint", double: "double precision" },
});

/** Migrates up to a step, or up to the last one. */
export type MigrateTo = (step?: string) => Promise<void>;

/** Runs `act` on an empty database that it migrates itself, and that programs may open too. */
export const withSteps = async (
  { name, create }: Dialect,
  act: (db: Db, migrateTo: MigrateTo, database: Database) => Promise<void>,
  clock?: () => number,
): Promise<void> => {
  const database = await create();
  const { RECEIVABLES_DATA: folder = "", DATABASE_URL: url = "" } = database.environment;
  const { dialect, types } =
    name === "sqlite" ? openUnmigratedSqlite(folder) : openUnmigratedPostgres(url);
  const db = new Kysely({ dialect }) as unknown as Db;
  const signing = signingIn(folder);
  const sealing = createSealing(clock === undefined ? signing : { ...signing, clock });
  const migrations = listMigrations(types, sealing);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const migrateTo: MigrateTo = async (step) => {
    const { error } = await (step === undefined
      ? migrator.migrateToLatest()
      : migrator.migrateTo(step));
    if (error !== undefined) throw new Error(`${step ?? "the last step"} failed`, { cause: error });
  };
  try {
    await act(db, migrateTo, database);
  } finally {
    await db.destroy();
    await database.remove();
  }
};

/** Statements that take back steps of the schema that cannot be made twice, the last step first. */
export const LAST_STEPS: Readonly<Record<string, readonly string[]>> = {
  "0038-former-balances": [
    "drop index documents_balance_recorded_at_balance_known_from_former_at",
    "create index documents_balance_recorded_at_balance_known_from on documents (tenant_id, balance_recorded_at, balance_known_from)",
    ...["at", "status", "balance", "currency"].map(
      (name) => `alter table documents drop column former_${name}`,
    ),
  ],
  "0037-batch-entries": [
    ...["batch_reference", "account_day", "part_of"].map(
      (name) => `drop index payment_entries_${name}`,
    ),
    ...["batch_reference", "part_count", "part_of"].map(
      (name) => `alter table payment_entries drop column ${name}`,
    ),
  ],
  "0035-past-days": ["drop index documents_balance_known_from_invoice_on"],
};

/** Takes back {@link LAST_STEPS}. */
export const takeBackLastSteps = async (db: Db): Promise<void> => {
  for (const statement of Object.values(LAST_STEPS).flat()) await sql.raw(statement).execute(db);
};
