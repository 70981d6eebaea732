import { sql } from "kysely";
import type { Db } from "../port.ts";
import type { IdempotencyKeyRow } from "../tables/schema.ts";
import { removeRows, rowsOfTenant } from "../engine/rows.ts";

type Name = Pick<IdempotencyKeyRow, "tenant_id" | "principal" | "operation" | "key">;

/** Finds the answer that is stored under a key, unless it has expired. */
export const findAnswer = (db: Db, { tenant_id, principal, operation, key }: Name, now: number) =>
  rowsOfTenant(db, "idempotency_keys", tenant_id)
    .where("principal", "=", principal)
    .where("operation", "=", operation)
    .where("key", "=", key)
    .where("expires_at", ">", now)
    .executeTakeFirst();

/** Stores an answer; returns false, and stores nothing, where the key has one that has not expired. */
export const insertAnswer = async (
  tx: Db,
  row: IdempotencyKeyRow,
  now: number,
): Promise<boolean> => {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("idempotency_keys")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "principal", "operation", "key"])
        .doUpdateSet(row)
        .where("idempotency_keys.expires_at", "<=", now),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows !== 0n;
};

// More than one request adds, so expired keys do not accumulate; few, so that no request pays for those of a day.
const REMOVED_AT_ONCE = 100;

/** Removes some of the answers that have expired. */
export const removeExpiredAnswers = async (tx: Db, now: number): Promise<void> => {
  await sql`
    delete from idempotency_keys where (tenant_id, principal, operation, key) in (
      select tenant_id, principal, operation, key from idempotency_keys
      where expires_at <= ${now} limit ${REMOVED_AT_ONCE})`.execute(tx);
};

/** Removes the answers to one user or key of a tenant. */
export const removeAnswersTo = (tx: Db, tenantId: string, principal: string) =>
  removeRows(tx, "idempotency_keys", { tenant_id: tenantId, principal });
