import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import type { AccountFields } from "../../../contract/operations/accounts.ts";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { getDialect } from "../engine/dialect.ts";
import { fold } from "../engine/fold.ts";
import { toAccountColumns, toDocumentColumns } from "../queries/listed-columns.ts";
import type { Db } from "../port.ts";
import { addColumn, type Columns, createIndex, type Index, type Types } from "./addition.ts";

const ADDED: [table: string, name: string, kind: Columns[string]][] = [
  ["accounts", "name_folded", "text"],
  ["accounts", "account_group", "text?"],
  ["accounts", "search_text", "text"],
  ["documents", "document_type", "text"],
  ["documents", "due_on", "text"],
  ["documents", "invoice_on", "text"],
  ["documents", "balance", "double?"],
  ["documents", "balance_currency", "text?"],
  ["documents", "search_text", "text"],
  ["disputes", "account_name_folded", "text?"],
];

const INDEXES: Index[] = [
  ["accounts", ["tenant_id", "account_group", "account_number"], "account_group"],
  ["documents", ["tenant_id", "status", "due_on", "document_number"]],
  ["documents", ["tenant_id", "due_on", "document_number"]],
  ["documents", ["tenant_id", "invoice_on", "document_number"]],
  ["disputes", ["tenant_id", "closed_at", "id"], "closed_at"],
];

const ROWS_PER_READ = 1000;

/** Yields the rows of a table in the order of its key, a bounded number at a time. */
async function* readRows(db: Db, table: "accounts" | "documents", key: string) {
  let after: { tenant_id: string; key: string } | undefined;
  for (;;) {
    const start =
      after === undefined
        ? sql`1 = 1`
        : sql`(tenant_id, ${sql.ref(key)}) > (${after.tenant_id}, ${after.key})`;
    const { rows } = await sql<{ tenant_id: string; key: string; fields: string }>`
      select tenant_id, ${sql.ref(key)} as key, fields from ${sql.table(table)} where ${start}
      order by tenant_id, ${sql.ref(key)} limit ${ROWS_PER_READ}`.execute(db);
    yield rows;
    after = rows.at(-1);
    if (after === undefined || rows.length < ROWS_PER_READ) return;
  }
}

const fillAccounts = async (db: Db): Promise<void> => {
  for await (const rows of readRows(db, "accounts", "account_number")) {
    for (const { tenant_id, key, fields } of rows) {
      await db
        .updateTable("accounts")
        .set(toAccountColumns(key, JSON.parse(fields) as AccountFields))
        .where("tenant_id", "=", tenant_id)
        .where("account_number", "=", key)
        .execute();
    }
  }
};

/** The columns that this step adds; later steps add others. */
const columnsOf = (key: string, fields: string) => {
  const { original_amount: _later, ...columns } = toDocumentColumns(
    key,
    JSON.parse(fields) as StoredDocument,
  );
  return columns;
};

const fillDocuments = async (db: Db): Promise<void> => {
  for await (const rows of readRows(db, "documents", "document_number")) {
    for (const { tenant_id, key, fields } of rows) {
      await db
        .updateTable("documents")
        .set(columnsOf(key, fields))
        .where("tenant_id", "=", tenant_id)
        .where("document_number", "=", key)
        .execute();
    }
  }
};

const fillDisputes = async (db: Db): Promise<void> => {
  const names = await db
    .selectFrom("disputes")
    .select("account_name")
    .distinct()
    .where("account_name", "is not", null)
    .execute();
  for (const { account_name } of names) {
    await db
      .updateTable("disputes")
      .set({ account_name_folded: account_name === null ? null : fold(account_name) })
      .where("account_name", "=", account_name)
      .execute();
  }
};

/** Adds the columns and indexes by which accounts, documents and disputes are listed, searched and added up. */
export const listings = (types: Types): Migration => ({
  async up(database) {
    const db = database as Kysely<never> as unknown as Db;
    for (const column of ADDED) await addColumn(database, types, column);
    await fillAccounts(db);
    await fillDocuments(db);
    await fillDisputes(db);
    for (const index of INDEXES) await createIndex(database, index, false);
    const { search } = getDialect(db);
    await search.create(db, { table: "accounts", key: "account_number" });
    await search.create(db, { table: "documents", key: "document_number" });
  },
});
