import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { createIndex, type Index } from "./addition.ts";

const INDEXES: Index[] = [
  ["documents", ["tenant_id", "status", "document_number"]],
  ["documents", ["tenant_id", "status", "invoice_on", "document_number"]],
  ["documents", ["tenant_id", "document_type", "document_number"]],
  ["disputes", ["tenant_id", "currency_code", "created_at", "id"]],
];

/** Columns whose values are found in any letter case. */
const SPELT: [table: string, column: string][] = [
  ["documents", "account_number"],
  ["disputes", "account_number"],
  ["disputes", "document_number"],
  ["disputes", "code"],
];

/** Adds the indexes of usual filters of lists and summaries, and tells the planner how large the tables become. */
export const plans: Migration = {
  async up(database) {
    const db = database as unknown as Db;
    for (const index of INDEXES) await createIndex(database, index, false);
    for (const [table, column] of SPELT) {
      await sql`create index ${sql.ref(`${table}_${column}_lower`)} on ${sql.table(table)}
        (tenant_id, lower(${sql.ref(column)}))`.execute(db);
    }
    await getDialect(db).describeLargeTables(db);
  },
};
