import { type Kysely, PostgresAdapter, sql } from "kysely";

// The number that Kysely's own lock has, so that programs of former versions wait as well.
const LOCK = "3853314791062309107";

export const NO_TABLES =
  "The user of DATABASE_URL may not create tables: make it the owner of the database.";

/** Whether the user may create tables, where a statement without a schema creates them. */
export const mayCreateTables = async <Tables>(db: Kysely<Tables>): Promise<boolean> => {
  const { rows } = await sql<{ may: boolean | null }>`
    select has_schema_privilege(current_schema(), 'create') as may`.execute(db);
  return rows[0]?.may === true;
};

/** Replaces the error of a failed migration, which Kysely hides behind that of the aborted transaction. */
const explain = async <Tables>(db: Kysely<Tables>, error: unknown): Promise<unknown> => {
  const mayCreate = await mayCreateTables(db).catch(() => true);
  return mayCreate ? error : new Error(NO_TABLES, { cause: error });
};

/**
 * Runs migrations in one transaction while no other process does. Kysely's own lock belongs to the session, which
 * PgBouncer may share between clients, so the lock is the transaction's.
 */
export const migrateLocked = <Tables>(
  db: Kysely<Tables>,
  migrate: (tx: Kysely<Tables>) => Promise<void>,
): Promise<void> =>
  db
    .transaction()
    .execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)}::bigint)`.execute(tx);
      await migrate(tx);
    })
    .catch(async (error: unknown) => {
      throw await explain(db, error);
    });

/** An adapter whose migrations run inside {@link migrateLocked}. */
export class LockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}

  override async releaseMigrationLock(): Promise<void> {}
}
