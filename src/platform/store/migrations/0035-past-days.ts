import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { createIndex } from "./addition.ts";

/**
 * Adds the index that tells, without reading documents, whether any was issued by a day of whose balance nothing was
 * recorded until later.
 */
export const pastDays: Migration = {
  async up(database) {
    const columns = ["tenant_id", "balance_known_from", "invoice_on"];
    await createIndex(database, ["documents", columns], false);
    const db = database as unknown as Db;
    await getDialect(db).describeLargeTables(db);
  },
};
