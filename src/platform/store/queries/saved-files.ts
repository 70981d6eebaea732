import type { Db } from "../port.ts";
import type { SavedFileRow } from "../tables/schema.ts";
import { removeRows, rowsOfTenant } from "../engine/rows.ts";

/** Finds a file of an owner that has not expired. */
export const findSavedFile = (
  db: Db,
  { tenantId, owner, name }: { tenantId: string; owner: string; name: string },
  now: number,
) =>
  rowsOfTenant(db, "saved_files", tenantId)
    .where("owner", "=", owner)
    .where("name", "=", name)
    .where("expires_at", ">", now)
    .executeTakeFirst();

/** Lists some of the files that have expired, of all tenants. */
export const listExpiredFiles = (db: Db, now: number, most: number) =>
  db
    .selectFrom("saved_files")
    .selectAll()
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .limit(most)
    .execute();

export const removeSavedFile = (
  tx: Db,
  { tenant_id, owner, name }: Pick<SavedFileRow, "tenant_id" | "owner" | "name">,
) => removeRows(tx, "saved_files", { tenant_id, owner, name });
