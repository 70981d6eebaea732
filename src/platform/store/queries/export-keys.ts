import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";

export const findExportKey = prepareFind((db: Db, hash: string) =>
  db.selectFrom("export_keys").selectAll().where("hash", "=", hash),
);

/** Lists the keys of one tenant or of all, by tenant and age. */
export const listExportKeys = (db: Db, tenantId: string | undefined) =>
  db
    .selectFrom("export_keys")
    .selectAll()
    .$if(tenantId !== undefined, (query) => query.where("tenant_id", "=", tenantId ?? ""))
    .orderBy("tenant_id")
    .orderBy("created_at")
    .orderBy("id")
    .execute();

/** Removes a key; returns the tenant that had it, undefined where there is no such key. */
export const removeExportKey = async (tx: Db, id: string): Promise<string | undefined> => {
  const row = await tx
    .deleteFrom("export_keys")
    .where("id", "=", id)
    .returning("tenant_id")
    .executeTakeFirst();
  return row?.tenant_id;
};
