import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { Db } from "../port.ts";
import { addColumn, type Columns, type Types } from "./addition.ts";

/** The columns of documents, and those of the history that they are filled from. */
const COLUMNS: [name: string, kind: Columns[string], from: string][] = [
  ["former_recorded_at", "integer?", "recorded_at"],
  ["former_status", "text?", "status"],
  ["former_balance", "double?", "balance"],
  ["former_currency", "text?", "currency"],
];

/**
 * Stores the balance before the present one with each document, so that an answer for a past day seldom needs the
 * history.
 */
export const formerBalances = (types: Types): Migration => ({
  async up(database) {
    const db = database as unknown as Db;
    for (const [name, kind] of COLUMNS) await addColumn(database, types, ["documents", name, kind]);
    const fillings = COLUMNS.map(
      ([
        name,
        ,
        from,
      ]) => sql`${sql.ref(name)} = (select ${sql.ref(from)} from document_balances as r
        where r.tenant_id = documents.tenant_id and r.document_number = documents.document_number
        order by r.version desc limit 1 offset 1)`,
    );
    await sql`update documents set ${sql.join(fillings)}
      where balance_recorded_at > balance_known_from`.execute(db);
  },
});
