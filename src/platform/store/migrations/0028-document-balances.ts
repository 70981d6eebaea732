import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { toDocumentColumns } from "../queries/listed-columns.ts";
import {
  addColumn,
  addition,
  type Columns,
  createIndex,
  type Tables,
  type Types,
} from "./addition.ts";
import { eachDocument } from "./each-document.ts";

const TABLES: Tables = {
  document_balances: {
    columns: {
      tenant_id: "text",
      document_number: "text",
      version: "integer",
      recorded_at: "integer",
      status: "text",
      balance: "double?",
      currency: "text?",
      cause: "text",
    },
    key: ["tenant_id", "document_number", "version"],
  },
};

const COLUMNS: [name: string, kind: Columns[string]][] = [
  ["original_amount", "double?"],
  ["balance_known_from", "integer?"],
  ["balance_recorded_at", "integer?"],
];

/** Fills the amounts that were billed. */
const fillAmounts = (db: Db): Promise<void> =>
  eachDocument(db, async ({ tenant_id, document_number, fields }) => {
    const { original_amount } = toDocumentColumns(
      document_number,
      JSON.parse(fields) as StoredDocument,
    );
    if (original_amount === null) return;
    await db
      .updateTable("documents")
      .set({ original_amount })
      .where("tenant_id", "=", tenant_id)
      .where("document_number", "=", document_number)
      .execute();
  });

/**
 * Adds the history of documents' balances. Documents that exist begin without one: what they owed before follows from
 * their original amounts and their payments.
 */
export const documentBalances = (types: Types): Migration => ({
  async up(database) {
    const db = database as Kysely<never> as unknown as Db;
    await addition(types, { tables: TABLES, unique: [], indexes: [] }).up(database);
    for (const [name, kind] of COLUMNS) await addColumn(database, types, ["documents", name, kind]);
    await fillAmounts(db);
    // Finds the documents that have changed since a day.
    await createIndex(
      database,
      ["documents", ["tenant_id", "balance_recorded_at", "balance_known_from"]],
      false,
    );
    await createIndex(database, ["document_closures", ["tenant_id", "closed_at"]], false);
    await getDialect(db).describeLargeTables(db);
  },
});
