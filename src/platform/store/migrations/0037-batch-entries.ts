import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { addColumn, type Columns, createIndex, type Index, type Types } from "./addition.ts";

const TABLE = "payment_entries";

const ADDED: [table: string, name: string, kind: Columns[string]][] = [
  [TABLE, "batch_reference", "text?"],
  [TABLE, "part_count", "integer?"],
  [TABLE, "part_of", "text?"],
];

const INDEXES: Index[] = [
  [TABLE, ["tenant_id", "batch_reference"], "batch_reference"],
  [TABLE, ["tenant_id", "account", "day"], "part_count"],
  [TABLE, ["tenant_id", "part_of"], "part_of"],
];

/** Adds what finds the entry of a batch when entries of its payments come, and these when the batch comes. */
export const batchEntries = (types: Types): Migration => ({
  async up(database) {
    for (const column of ADDED) await addColumn(database, types, column);
    const db = database as Kysely<never> as unknown as Db;
    // An entry of several payments has a detail of 1000 for each.
    await sql`update payment_entries set part_count = detail / 1000 where detail >= 2000`.execute(
      db,
    );
    for (const index of INDEXES) await createIndex(database, index, false);
    await getDialect(db).describeLargeTables(db);
  },
});
