import type { Db } from "../port.ts";
import { prepareQuery } from "../engine/prepared.ts";
import type { ApiKeyRow } from "../tables/schema.ts";

const keysByHash = prepareQuery((db: Db, hash: string) =>
  db.selectFrom("api_keys").selectAll().where("hash", "=", hash),
);

export const findApiKey = async (db: Db, hash: string): Promise<ApiKeyRow | undefined> =>
  (await keysByHash(db, hash))[0];

/** Lists a user's keys, oldest first. */
export const listApiKeys = (db: Db, userId: string): Promise<ApiKeyRow[]> =>
  db
    .selectFrom("api_keys")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .execute();

/** Counts a user's keys that were used since a time. */
export const countApiKeys = async (db: Db, userId: string, usedSince: number): Promise<number> => {
  const { total } = await db
    .selectFrom("api_keys")
    .select((eb) => eb.fn.countAll().as("total"))
    .where("user_id", "=", userId)
    .where("used_at", ">=", usedSince)
    .executeTakeFirstOrThrow();
  return Number(total);
};

/** Removes a user's key; returns whether there was one. */
export const removeApiKey = async (
  tx: Db,
  { id, user_id, tenant_id }: Pick<ApiKeyRow, "id" | "user_id" | "tenant_id">,
): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom("api_keys")
    .where("id", "=", id)
    .where("user_id", "=", user_id)
    .where("tenant_id", "=", tenant_id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
};
