import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { listColumns, TABLES } from "../queries/payments/columns.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { toColumnTypes } from "./0005-payments.ts";
import { addColumn, createIndex, type Types } from "./addition.ts";

const TABLE = TABLES.cashapp;

const FIELDS: ReadonlySet<string> = new Set([
  "remittanceText",
  "feeAmount",
  "returnReason",
  "returnedPaymentId",
  "doubt",
]);

const listKnown = async (db: Kysely<unknown>): Promise<Set<string>> => {
  const tables = await db.introspection.getTables();
  const own = tables.find(({ name }) => name === TABLE);
  return new Set(own?.columns.map(({ name }) => name));
};

/** Adds the columns of texts, charges, returns and doubts. A new store has them from the catalogue already. */
export const paymentFacts = (types: Types): Migration => ({
  async up(database) {
    const known = await listKnown(database);
    const columns = listColumns("cashapp").filter(({ field }) => FIELDS.has(field.name));
    for (const [name, kind] of columns.flatMap(toColumnTypes)) {
      if (!known.has(name)) await addColumn(database, types, [TABLE, name, kind]);
    }
    const returned = "returned_payment_id_folded";
    await createIndex(database, [TABLE, ["tenant_id", returned, "seq"], returned], false);
    const db = database as unknown as Db;
    await getDialect(db).describeLargeTables(db);
  },
});
