import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { getDialect } from "../engine/dialect.ts";
import { toDocumentKeys } from "../queries/listed-columns.ts";
import { PAYER_KEY } from "../queries/payments/payer-key.ts";
import type { Db } from "../port.ts";
import { addColumn, type Columns, createIndex, type Index, type Types } from "./addition.ts";
import { eachDocument } from "./each-document.ts";

const ADDED: [table: string, name: string, kind: Columns[string]][] = [
  ["documents", "number_key", "text?"],
  ["documents", "invoice_key", "text?"],
  ["documents", "applies_to_key", "text?"],
  ["documents", "balance_at", "text?"],
  ["cashapp_payments", "said", "text?"],
  ["cashapp_payments", "applied_at", "text?"],
  ["cashapp_payments", "waiting_key", "text?"],
];

const INDEXES: Index[] = [
  ["documents", ["tenant_id", "number_key"], "number_key"],
  ["documents", ["tenant_id", "invoice_key"], "invoice_key"],
  ["documents", ["tenant_id", "applies_to_key"], "applies_to_key"],
  ["accounts", ["tenant_id", "name_folded"]],
  ["cashapp_payments", ["tenant_id", "waiting_key", "seq"], "waiting_key"],
];

/** Fills the keys of documents. */
const fillDocuments = (db: Db): Promise<void> =>
  eachDocument(db, async ({ tenant_id, document_number, updated_at, fields }) => {
    const stored = JSON.parse(fields) as StoredDocument;
    const { number_key, invoice_key, applies_to_key } = toDocumentKeys(document_number, stored);
    await db
      .updateTable("documents")
      .set({
        number_key,
        invoice_key,
        applies_to_key,
        balance_at: formatTimestamp(Number(updated_at)),
      })
      .where("tenant_id", "=", tenant_id)
      .where("document_number", "=", document_number)
      .execute();
  });

/**
 * Adds the columns and indexes by which payments find their documents and customers. Credit notes that were sent with
 * a positive amount reduce balances from now on.
 */
export const matching = (types: Types): Migration => ({
  async up(database) {
    const db = database as Kysely<never> as unknown as Db;
    for (const column of ADDED) await addColumn(database, types, column);
    await fillDocuments(db);
    await sql`update documents set balance = -balance
      where document_type = 'credit_note' and balance > 0`.execute(db);
    for (const index of INDEXES) await createIndex(database, index, false);
    await sql`create index cashapp_payments_payer on cashapp_payments
      (tenant_id, (${PAYER_KEY}), account_number) where account_number is not null`.execute(db);
    await getDialect(db).describeLargeTables(db);
  },
});
