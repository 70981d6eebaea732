import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { getDialect } from "../engine/dialect.ts";
import { toDocumentKeys } from "../queries/listed-columns.ts";
import { PAYER_KEY } from "../queries/payments/payer-key.ts";
import type { Db } from "../port.ts";
import { addColumn, type Columns, createIndex, type Index, type Types } from "./addition.ts";

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

const ROWS_PER_STEP = 1000;

type Row = { tenant_id: string; document_number: string; updated_at: number | string };

/** Reads the next documents in the order of their key, without most of their columns. */
const readNext = async (db: Db, after: Row | undefined) => {
  const start =
    after === undefined
      ? sql`1 = 1`
      : sql`(tenant_id, document_number) > (${after.tenant_id}, ${after.document_number})`;
  const { rows } = await sql<Row & { fields: string }>`
    select tenant_id, document_number, updated_at, fields from documents where ${start}
    order by tenant_id, document_number limit ${ROWS_PER_STEP}`.execute(db);
  return rows;
};

/** Fills the keys of documents, a bounded number at a time. */
const fillDocuments = async (db: Db): Promise<void> => {
  let after: Row | undefined;
  for (;;) {
    const rows = await readNext(db, after);
    for (const { tenant_id, document_number, updated_at, fields } of rows) {
      await db
        .updateTable("documents")
        .set({
          ...toDocumentKeys(document_number, JSON.parse(fields) as StoredDocument),
          balance_at: formatTimestamp(Number(updated_at)),
        })
        .where("tenant_id", "=", tenant_id)
        .where("document_number", "=", document_number)
        .execute();
    }
    after = rows.at(-1);
    if (after === undefined || rows.length < ROWS_PER_STEP) return;
  }
};

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
