import { type ColumnDataType, type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { SOURCES, type Source } from "../../../contract/payments/catalogue.ts";
import { type Column, columnsOf, TABLES } from "../payments/columns.ts";
import { isPostgres } from "../copy.ts";
import { addition, type Columns, type Index, type Types } from "./addition.ts";

const kinds = ({ name, kept, compared, field }: Column): [string, Columns[string]][] => {
  const kind = kept === "integer" || kept === "flag" ? "integer" : "text";
  const own: [string, Columns[string]] = [name, field.nullable ? `${kind}?` : kind];
  if (kept === "folded") return [own, [compared, field.nullable ? "text?" : "text"]];
  return kept === "decimal" ? [own, [compared, "double?"]] : [own];
};

// What a page shows stands before what filters compare, so that reading it passes over less.
const columns = (source: Source): Columns => {
  const all = columnsOf(source).map(kinds);
  const shown = all.flatMap(([first]) => (first === undefined ? [] : [first]));
  const compared = all.flatMap(([, second]) => (second === undefined ? [] : [second]));
  const own: Columns = { tenant_id: "text", seq: "integer", sent_hash: "text" };
  return { ...own, ...Object.fromEntries([...shown, ...compared]) };
};

const indexes = (source: Source): Index[] =>
  columnsOf(source)
    .filter(({ field }) => field.indexed && field.name !== "id")
    .map(({ compared }): Index => [TABLES[source], ["tenant_id", compared, "seq"]]);

/** Payments name documents by the number of their invoice, which so far stood in their fields alone. */
const invoiceNumbers = async (db: Kysely<unknown>, types: Types): Promise<void> => {
  await db.schema
    .alterTable("documents")
    .addColumn("invoice_num", types.text as ColumnDataType)
    .execute();
  const known = isPostgres(db)
    ? sql`fields::json ->> 'invoice_num'`
    : sql`json_extract(fields, '$.invoice_num')`;
  await sql`update documents set invoice_num = ${known}`.execute(db);
  await db.schema
    .createIndex("documents_invoice_num")
    .on("documents")
    .columns(["tenant_id", "invoice_num"])
    .execute();
};

/** Payment rows, a table for each source, with the columns and indexes that the catalogue says. */
export const payments = (types: Types): Migration => ({
  async up(db) {
    await invoiceNumbers(db, types);
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
