import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { addColumn, type Columns, createIndex, type Types } from "./addition.ts";

const COLUMNS: [name: string, kind: Columns[string]][] = [
  ["former_at", "integer?"],
  ["former_status", "text?"],
  ["former_balance", "double?"],
  ["former_currency", "text?"],
];

/**
 * Adds the columns in which a document keeps the balance before its present one. They stay empty until it changes: of
 * other documents the history tells the same.
 */
export const formerBalances = (types: Types): Migration => ({
  async up(database) {
    for (const [name, kind] of COLUMNS) await addColumn(database, types, ["documents", name, kind]);
    const db = database as unknown as Db;
    await database.schema.dropIndex("documents_balance_recorded_at_balance_known_from").execute();
    // Tells, without reading documents, which have changed since a day, and which of them more than once.
    const columns = ["balance_recorded_at", "balance_known_from", "former_at"];
    await createIndex(database, ["documents", ["tenant_id", ...columns]], false);
    await getDialect(db).describeLargeTables(db);
  },
});
