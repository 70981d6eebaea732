import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

/** Stores the history of balances in its key: past days look up a balance for each document that has changed since. */
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
