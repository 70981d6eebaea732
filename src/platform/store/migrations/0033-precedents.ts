import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

/**
 * Adds the index that holds all that precedents are counted by, so that no dispute is read for it. Open disputes are not
 * in it.
 */
export const precedents: Migration = {
  async up(database) {
    await database.schema
      .createIndex("disputes_precedents")
      .on("disputes")
      .columns([
        "tenant_id",
        "reason_id",
        "closed_at",
        "status",
        "is_valid",
        "resolution_id",
        "account_number",
        "created_at",
        "currency_code",
        "amount_order",
        "assignee_id",
        "code",
      ])
      .where("closed_at", "is not", null)
      .execute();
    const db = database as unknown as Db;
    await getDialect(db).describeLargeTables(db);
  },
};
