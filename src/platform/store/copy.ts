import { CompiledQuery, PostgresAdapter, sql } from "kysely";
import type { Db } from "./port.ts";

export type Value = string | number | null;

type Copied = { table: string; columns: readonly string[] };

const ESCAPED: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;

const textOf = (value: Value | undefined): string => {
  if (value === null || value === undefined) return "\\N";
  if (typeof value === "number") return String(value);
  if (!SPECIAL.test(value)) return value;
  return value.replaceAll(SPECIALS, (character) => ESCAPED[character] ?? character);
};

/** Whether the database is the one that takes rows as a stream of text, several times as fast as in statements. */
export const isPostgres = (db: Db): boolean => db.getExecutor().adapter instanceof PostgresAdapter;

/** Adds rows that are not there yet. */
export const copyInto = async (
  tx: Db,
  { table, columns }: Copied,
  rows: readonly Record<string, Value>[],
): Promise<void> => {
  let text = "";
  for (const row of rows) {
    text += columns.map((column) => textOf(row[column])).join("\t");
    text += "\n";
  }
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const statement = sql`copy ${sql.table(table)} (${names}) from stdin`.compile(tx);
  await tx.executeQuery(CompiledQuery.raw(statement.sql, [text]));
};

/** Writes rows by way of a table of the transaction's own; `merge` gets its name. */
export const copyThrough = async (
  tx: Db,
  { table, columns }: Copied,
  rows: readonly Record<string, Value>[],
  merge: (staged: string) => Promise<unknown>,
): Promise<void> => {
  const staged = `staged_${table}`;
  const [own, like] = [sql.table(staged), sql.table(table)];
  await sql`create temporary table ${own} (like ${like}) on commit drop`.execute(tx);
  await copyInto(tx, { table: staged, columns }, rows);
  await merge(staged);
  await sql`drop table ${own}`.execute(tx);
};
