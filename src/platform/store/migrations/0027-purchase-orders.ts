import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { toNumberKey } from "../../../contract/number-key.ts";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { addColumn, createIndex, type Types } from "./addition.ts";

const ROWS_PER_STEP = 1000;

type Row = { tenant_id: string; document_number: string; fields: string };

/** Reads the next documents with a purchase order, in the order of their key. */
const readNext = async (db: Db, after: Row | undefined): Promise<Row[]> => {
  const start =
    after === undefined
      ? sql`1 = 1`
      : sql`(tenant_id, document_number) > (${after.tenant_id}, ${after.document_number})`;
  const { rows } = await sql<Row>`
    select tenant_id, document_number, fields from documents
    where ${start} and fields like '%"po_number"%'
    order by tenant_id, document_number limit ${ROWS_PER_STEP}`.execute(db);
  return rows;
};

/** Fills the keys of purchase orders, a bounded number at a time. */
const fillKeys = async (db: Db): Promise<void> => {
  let after: Row | undefined;
  for (;;) {
    const rows = await readNext(db, after);
    for (const { tenant_id, document_number, fields } of rows) {
      const { po_number } = JSON.parse(fields) as StoredDocument;
      await db
        .updateTable("documents")
        .set({ po_key: toNumberKey(po_number ?? "") || null })
        .where("tenant_id", "=", tenant_id)
        .where("document_number", "=", document_number)
        .execute();
    }
    after = rows.at(-1);
    if (after === undefined || rows.length < ROWS_PER_STEP) return;
  }
};

/** Adds the key of the purchase order, by which lines of a claim find documents. */
export const purchaseOrders = (types: Types): Migration => ({
  async up(database) {
    const db = database as Kysely<never> as unknown as Db;
    await addColumn(database, types, ["documents", "po_key", "text?"]);
    await fillKeys(db);
    await createIndex(database, ["documents", ["tenant_id", "po_key"], "po_key"], false);
    await getDialect(db).describeLargeTables(db);
  },
});
