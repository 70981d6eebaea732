import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

const NAMES: [table: string, column: string][] = [
  ["cashapp_payments", "payer_name_folded"],
  ["cashapp_payments", "account_name_folded"],
  ["bpn_payments", "payer_name_folded"],
];

/** Adds the indexes by which payments are found by parts of names. A new store has them from the catalogue already. */
export const paymentNames: Migration = {
  async up(database) {
    const db = database as unknown as Db;
    for (const [table, column] of NAMES) {
      await sql`create index if not exists ${sql.ref(`${table}_${column}_seq`)} on ${sql.table(table)}
        (tenant_id, ${sql.ref(column)}, seq)`.execute(db);
    }
    await getDialect(db).describeLargeTables(db);
  },
};
