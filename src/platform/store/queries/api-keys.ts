import type { Db } from "../port.ts";
import { prepareFind } from "../engine/prepared.ts";
import type { ApiKeyRow } from "../tables/schema.ts";
import { countOf, removeRows } from "../engine/rows.ts";

export const findApiKey = prepareFind((db: Db, hash: string) =>
  db.selectFrom("api_keys").selectAll().where("hash", "=", hash),
);

/** Lists a user's keys, oldest first. */
export const listApiKeys = (db: Db, userId: string) =>
  db
    .selectFrom("api_keys")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .execute();

/** Counts a user's keys that were used since a time. */
export const countApiKeys = (db: Db, userId: string, usedSince: number): Promise<number> =>
  countOf(
    db.selectFrom("api_keys").where("user_id", "=", userId).where("used_at", ">=", usedSince),
  );

/** Removes a user's key; returns whether there was one. */
export const removeApiKey = async (
  tx: Db,
  { id, user_id, tenant_id }: Pick<ApiKeyRow, "id" | "user_id" | "tenant_id">,
): Promise<boolean> => (await removeRows(tx, "api_keys", { id, user_id, tenant_id })) > 0;
