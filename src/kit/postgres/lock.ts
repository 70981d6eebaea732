import { type Kysely, PostgresAdapter, sql } from "kysely";

// The number that Kysely's own lock has, so that programs of former versions wait as well.
const LOCK = "3853314791062309107";

/**
 * Runs migrations in one transaction while no other process does. Kysely's own lock belongs to the session, which
 * PgBouncer may share between clients, so the lock is the transaction's.
 */
export const migrateLocked = <Tables>(
  db: Kysely<Tables>,
  migrate: (tx: Kysely<Tables>) => Promise<void>,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)}::bigint)`.execute(tx);
    await migrate(tx);
  });

/** An adapter whose migrations run inside {@link migrateLocked}. */
export class LockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}

  override async releaseMigrationLock(): Promise<void> {}
}
