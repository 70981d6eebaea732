import type { ColumnDataType, CreateTableBuilder, Kysely, RawBuilder } from "kysely";
import type { Migration } from "kysely/migration";

/** The names of column types that differ between the databases. */
export type Types = {
  /** Ordered by code point. */
  text: ColumnDataType | RawBuilder<unknown>;
  integer: ColumnDataType;
  double: ColumnDataType | RawBuilder<unknown>;
};

type Column = keyof Types;
export type Columns = Record<string, Column | `${Column}?`>;
type Table = { columns: Columns; key: string[] };
export type Tables = Record<string, Table>;
/** `present`: only of the rows in which this column holds something. */
export type Index = [table: string, columns: string[], present?: string];

/** The audit columns of a record that changes. */
export const TRACKED = {
  created_by: "text",
  created_at: "integer",
  updated_by: "text",
  updated_at: "integer",
  version: "integer",
} as const satisfies Columns;

const createTable = async (
  db: Kysely<unknown>,
  types: Types,
  name: string,
  { columns, key }: Table,
): Promise<void> => {
  let builder: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, kind] of Object.entries(columns)) {
    const nullable = kind.endsWith("?");
    const type = types[kind.replace("?", "") as Column];
    builder = builder.addColumn(column, type as ColumnDataType, (made) =>
      nullable ? made : made.notNull(),
    );
  }
  await builder.addPrimaryKeyConstraint(`${name}_key`, key).execute();
};

export const createIndex = async (
  db: Kysely<unknown>,
  [table, columns, present]: Index,
  unique: boolean,
): Promise<void> => {
  const name = `${table}_${columns.filter((column) => column !== "tenant_id").join("_")}`;
  let index = db.schema.createIndex(name).on(table).columns(columns);
  if (present !== undefined) index = index.where(present, "is not", null);
  await (unique ? index.unique() : index).execute();
};

/** Adds a column to a table with rows. A column that cannot be null has a value from the start. */
export const addColumn = async (
  db: Kysely<unknown>,
  types: Types,
  [table, name, kind]: [table: string, name: string, kind: Columns[string]],
): Promise<void> => {
  const type = types[kind.replace("?", "") as Column] as ColumnDataType;
  await db.schema
    .alterTable(table)
    .addColumn(name, type, (made) => (kind.endsWith("?") ? made : made.notNull().defaultTo("")))
    .execute();
};

/** Creates a migration that adds tables with their indexes. */
export const addition = (
  types: Types,
  added: { tables: Tables; unique: Index[]; indexes: Index[] },
): Migration => ({
  async up(db) {
    for (const [name, table] of Object.entries(added.tables)) {
      await createTable(db, types, name, table);
    }
    for (const index of added.unique) await createIndex(db, index, true);
    for (const index of added.indexes) await createIndex(db, index, false);
  },
});
