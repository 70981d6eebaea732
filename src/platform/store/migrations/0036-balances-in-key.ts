import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

/**
 * Stores the history of balances in the index of its key: an answer for a past day looks up a balance for each document
 * that has changed since.
 */
export const balancesInKey: Migration = {
  async up(database) {
    const db = database as unknown as Db;
    await getDialect(db).storeInKey(db, "document_balances", [
      "tenant_id",
      "document_number",
      "version",
    ]);
    await getDialect(db).describeLargeTables(db);
  },
};
