import type { Kysely, SelectQueryBuilder } from "kysely";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";
import type { Tables } from "../tables/schema.ts";
import { changeRows, removeRows, rowsOfTenant } from "../engine/rows.ts";

/** Tables of records that a tenant names by a code; assignees are named by their e-mail address. */
type CodedTables = Pick<
  Tables,
  "assignees" | "categories" | "departments" | "reasons" | "resolutions"
>;
type Code = "code_folded" | "email_folded";
type Key = { tenant_id: string; id: string };

/** Column names end in `_folded` where they hold the case-folded text of another column. */
type Unfolded<Row> = Omit<Row, `${string}_folded`>;

/** The columns that all coded tables have, for queries on any of them. */
type AnyTable = Kysely<{ coded: Key & Record<Code, string> }>;

const on = (db: Db): AnyTable => db;

/** Tables whose rows have a key of tenant and id. */
type KeyedTables = {
  [Name in keyof Tables as Tables[Name] extends Key ? Name : never]: Tables[Name];
};

/** Creates the queries of tables whose rows have a key of tenant and id. */
export const createKeyedTable = <Name extends keyof KeyedTables>(name: Name) => {
  const table = name as unknown as "disputes";
  return {
    find: (db: Db, tenantId: string, id: string): Promise<KeyedTables[Name] | undefined> =>
      rowsOfTenant(db, table, tenantId).where("id", "=", id).executeTakeFirst() as never,

    async update(db: Db, { tenant_id, id }: Key, change: Partial<Tables[Name]>): Promise<void> {
      await changeRows(db, table, { tenant_id, id }, change as never);
    },

    async remove(db: Db, { tenant_id, id }: Key): Promise<void> {
      await removeRows(db, table, { tenant_id, id });
    },
  };
};

/** Creates the queries that coded tables share. */
export const createCodedTable = <Name extends keyof CodedTables>(
  name: Name,
  addFolded: (record: Unfolded<CodedTables[Name]>) => CodedTables[Name],
  code: Code = "code_folded",
) => {
  type Row = CodedTables[Name];
  const table = name as unknown as "coded";
  const select = (db: Db, tenantId: string) =>
    on(db).selectFrom(table).selectAll().where("tenant_id", "=", tenantId);
  const asRow = (row: unknown) => row as Row | undefined;
  const { find, update, remove } = createKeyedTable(name);

  return {
    find,
    remove,

    findByCode: async (db: Db, tenantId: string, text: string): Promise<Row | undefined> =>
      asRow(await select(db, tenantId).where(code, "=", fold(text)).executeTakeFirst()),

    /** Selects all rows by code. */
    select: (db: Db, tenantId: string): SelectQueryBuilder<Tables, Name, Row> =>
      select(db, tenantId).orderBy(code) as never,

    /** Returns the inserted row, undefined where the code is taken. */
    async insert(db: Db, record: Unfolded<Row>): Promise<Row | undefined> {
      const row = addFolded(record);
      const result = await on(db)
        .insertInto(table)
        .values(row as never)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return result.numInsertedOrUpdatedRows === 1n ? row : undefined;
    },

    async update(db: Db, record: Unfolded<Row>): Promise<Row> {
      const row = addFolded(record);
      await update(db, row, row);
      return row;
    },
  };
};

/** Tells whether a row of the table refers to the record in one of the columns. */
export const isReferenced = async <Name extends "assignees" | "disputes" | "reasons">(
  db: Db,
  { tenant_id, id }: Key,
  name: Name,
  ...columns: (keyof Tables[Name] & string)[]
): Promise<boolean> => {
  const row = await on(db)
    .selectFrom(name as unknown as "coded")
    .select("id")
    .where("tenant_id", "=", tenant_id)
    .where(({ eb, or }) => or(columns.map((column) => eb(column as "id", "=", id))))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

type Described = { code: string; description: string };

/** Adds the folded columns of a record with a code and a description. */
export const foldTexts = ({ code, description }: Described) => ({
  code_folded: fold(code),
  description_folded: fold(description),
});
