import { type ColumnDataType, type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { SOURCES, type Source } from "../../../contract/payments/catalogue.ts";
import { type Column, listColumns, TABLES } from "../queries/payments/columns.ts";
import { getDialect } from "../engine/dialect.ts";
import { addition, type Columns, type Index, type Types } from "./addition.ts";

/** Returns the columns in which a field is stored, with their types. */
export const toColumnTypes = ({
  name,
  storage,
  compared,
  field,
}: Column): [string, Columns[string]][] => {
  const kind = storage === "integer" || storage === "flag" ? "integer" : "text";
  const own: [string, Columns[string]] = [name, field.nullable ? `${kind}?` : kind];
  if (storage === "folded") return [own, [compared, field.nullable ? "text?" : "text"]];
  return storage === "decimal" ? [own, [compared, "double?"]] : [own];
};

// The columns that pages contain come before those that only filters compare, so that a read skips less of a row.
const columns = (source: Source): Columns => {
  const all = listColumns(source).map(toColumnTypes);
  const shown = all.flatMap(([first]) => (first === undefined ? [] : [first]));
  const compared = all.flatMap(([, second]) => (second === undefined ? [] : [second]));
  const own: Columns = { tenant_id: "text", seq: "integer", sent_hash: "text" };
  return { ...own, ...Object.fromEntries([...shown, ...compared]) };
};

const indexes = (source: Source): Index[] =>
  listColumns(source)
    .filter(({ field }) => field.indexed && field.name !== "id")
    .map(({ compared }): Index => [TABLES[source], ["tenant_id", compared, "seq"]]);

/** Adds a column for the invoice number, by which payments reference documents. */
const addInvoiceNumbers = async (db: Kysely<unknown>, types: Types): Promise<void> => {
  await db.schema
    .alterTable("documents")
    .addColumn("invoice_num", types.text as ColumnDataType)
    .execute();
  const { readJsonMember } = getDialect(db);
  await sql`update documents set invoice_num = ${readJsonMember("fields", "invoice_num")}`.execute(
    db,
  );
  await db.schema
    .createIndex("documents_invoice_num")
    .on("documents")
    .columns(["tenant_id", "invoice_num"])
    .execute();
};

/** Creates a table of payment rows per source, with the columns and indexes that the catalogue declares. */
export const payments = (types: Types): Migration => ({
  async up(db) {
    await addInvoiceNumbers(db, types);
    await tables(types).up(db);
  },
});

const tables = (types: Types): Migration =>
  addition(types, {
    tables: {
      payment_sequences: {
        columns: { tenant_id: "text", source: "text", last: "integer" },
        key: ["tenant_id", "source"],
      },
      ...Object.fromEntries(
        SOURCES.map((source) => [
          TABLES[source],
          { columns: columns(source), key: ["tenant_id", "seq"] },
        ]),
      ),
    },
    unique: SOURCES.map((source): Index => [TABLES[source], ["tenant_id", "id"]]),
    indexes: SOURCES.flatMap(indexes),
  });
