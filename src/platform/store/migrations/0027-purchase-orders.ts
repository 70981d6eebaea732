import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { toDocumentKeys } from "../queries/listed-columns.ts";
import { addColumn, createIndex, type Types } from "./addition.ts";
import { eachDocument } from "./each-document.ts";

/** Fills the keys of purchase orders. */
const fillKeys = (db: Db): Promise<void> =>
  eachDocument(db, async ({ tenant_id, document_number, fields }) => {
    const { po_key } = toDocumentKeys(document_number, JSON.parse(fields) as StoredDocument);
    if (po_key === null) return;
    await db
      .updateTable("documents")
      .set({ po_key })
      .where("tenant_id", "=", tenant_id)
      .where("document_number", "=", document_number)
      .execute();
  });

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
