import { type RawBuilder, sql } from "kysely";
import { createUpsert } from "../engine/bulk-writes.ts";
import type { Value } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import type { ImportRow, Tables } from "../tables/schema.ts";
import { IMPORTED_TABLES } from "./tenant-tables.ts";
import { ofTenant, rowsOfTenant } from "../engine/rows.ts";

const upsertImports = createUpsert("imports", ["tenant_id", "id"]);

export const putImport = (tx: Db, row: ImportRow): Promise<void> => upsertImports(tx, [row]);

/** Lists a tenant's imports, the newest first. */
export const listImports = (db: Db, tenantId: string) =>
  rowsOfTenant(db, "imports", tenantId).orderBy("started_at", "desc").orderBy("id").execute();

/** Finds an import by its id in any tenant; ids are unique. */
export const findImport = (db: Db, id: string) =>
  db.selectFrom("imports").selectAll().where("id", "=", id).executeTakeFirst();

/** Finds the ids of imports that began after a time, in epoch milliseconds. */
export const findLaterImports = async (
  db: Db,
  tenantId: string,
  startedAt: number,
): Promise<ReadonlySet<string>> => {
  const rows = await ofTenant(db, "imports", tenantId)
    .select("id")
    .where("started_at", ">", startedAt)
    .execute();
  return new Set(rows.map(({ id }) => id));
};

/** Finds the imports of a kind that began after another one, the first ones first. */
export const findLaterOfKind = (
  db: Db,
  { tenant_id: tenantId, id, kind, started_at: startedAt }: ImportRow,
) =>
  rowsOfTenant(db, "imports", tenantId)
    .where("kind", "=", kind)
    .where("started_at", ">=", startedAt)
    .where("id", "<>", id)
    .where("status", "<>", "undone")
    .orderBy("started_at")
    .orderBy("id")
    .execute();

/** Reads the changes of an import below a number, the last one first. */
export const readChangesBackwards = (
  db: Db,
  tenantId: string,
  importId: string,
  below: number,
  most: number,
) =>
  rowsOfTenant(db, "import_changes", tenantId)
    .where("import_id", "=", importId)
    .where("number", "<", below)
    .orderBy("number", "desc")
    .limit(most)
    .execute();

/** Returns the values of a record's key columns as a JSON array, as changes of imports name it. */
export const toRecordKey = (table: keyof Tables, row: Record<string, unknown>): string =>
  JSON.stringify(
    IMPORTED_TABLES[table as keyof typeof IMPORTED_TABLES].map((column) => row[column]),
  );

/** Reads a record as it was before an import changed it first; undefined if it did not, or does not tell it. */
export const findChange = async (
  db: Db,
  importId: string,
  { tenantId, table, row }: { tenantId: string; table: keyof Tables; row: Record<string, unknown> },
): Promise<Record<string, Value> | undefined> => {
  const found = await ofTenant(db, "import_changes", tenantId)
    .select("before")
    .where("import_id", "=", importId)
    .where("table_name", "=", table)
    .where("record_key", "=", toRecordKey(table, row))
    .where("before", "is not", null)
    .orderBy("number")
    .limit(1)
    .executeTakeFirst();
  const before = found?.before ?? null;
  return before === null ? undefined : (JSON.parse(before) as Record<string, Value>);
};

/** Removes changes of an import that were taken back: those between two numbers, except some. */
export const removeChanges = async (
  tx: Db,
  { tenant_id: tenantId, id }: Pick<ImportRow, "tenant_id" | "id">,
  { from, to, except }: { from: number; to: number; except: readonly number[] },
): Promise<void> => {
  const removed = tx
    .deleteFrom("import_changes")
    .where("tenant_id", "=", tenantId)
    .where("import_id", "=", id)
    .where("number", ">=", from)
    .where("number", "<=", to);
  await (except.length === 0 ? removed : removed.where("number", "not in", except)).execute();
};

const isRecord = (table: string, tenantId: string, key: string): RawBuilder<boolean> => {
  const columns = IMPORTED_TABLES[table as keyof typeof IMPORTED_TABLES];
  const values = JSON.parse(key) as (string | number)[];
  const parts = columns.map((column, place) => sql`${sql.ref(column)} = ${values[place]}`);
  return sql<boolean>`tenant_id = ${tenantId} and ${sql.join(parts, sql` and `)}`;
};

/** The place of a record: its table, and the values of its key columns as a JSON array. */
export type RecordPlace = { table: string; tenantId: string; key: string };

/** Reads a record as stored. */
export const readRecord = async (
  db: Db,
  { table, tenantId, key }: RecordPlace,
): Promise<Record<string, Value> | undefined> => {
  const { rows } = await sql<Record<string, Value>>`
    select * from ${sql.table(table)} where ${isRecord(table, tenantId, key)}`.execute(db);
  return rows[0];
};

export const removeRecord = async (
  tx: Db,
  { table, tenantId, key }: RecordPlace,
): Promise<void> => {
  await sql`delete from ${sql.table(table)} where ${isRecord(table, tenantId, key)}`.execute(tx);
};

/** Inserts or replaces a record. */
export const putRecord = (tx: Db, table: string, row: Record<string, Value>): Promise<void> => {
  const name = table as keyof typeof IMPORTED_TABLES;
  return createUpsert(name, ["tenant_id", ...IMPORTED_TABLES[name]] as never)(tx, [row as never]);
};

/** Columns by which other tables refer to a record: table, column, and the record's column that it holds. */
const REFERENCES: Readonly<Record<string, readonly (readonly [string, string, string])[]>> = {
  accounts: [
    ["documents", "account_number", "account_number"],
    ["disputes", "account_number", "account_number"],
    ["account_notes", "account_number", "account_number"],
    ["accounts", "parent_account_number", "account_number"],
  ],
  documents: [
    ["disputes", "document_number", "document_number"],
    ["document_attachments", "document_number", "document_number"],
    ["document_closures", "document_number", "document_number"],
    ["cashapp_payments", "document_number", "document_number"],
  ],
  disputes: [
    ["dispute_notes", "dispute_id", "id"],
    ["dispute_attachments", "dispute_id", "id"],
  ],
  memberships: [
    ["assignees", "user_id", "user_id"],
    ["api_keys", "user_id", "user_id"],
    ["dispute_notes", "created_by", "user_id"],
    ["account_notes", "created_by", "user_id"],
  ],
  cashapp_payments: [["cashapp_payments", "returned_payment_id", "payment_id"]],
};

/** Returns the first table with a row that refers to a record; undefined if there is none. */
export const findReferringTable = async (
  db: Db,
  table: string,
  row: Record<string, Value>,
): Promise<string | undefined> => {
  for (const [other, column, own] of REFERENCES[table] ?? []) {
    const { rows } = await sql`
      select 1 from ${sql.table(other)}
      where tenant_id = ${row["tenant_id"]} and ${sql.ref(column)} = ${row[own]} limit 1`.execute(
      db,
    );
    if (rows.length > 0) return other;
  }
  return undefined;
};
