import { type RawBuilder, sql } from "kysely";
import type { Source } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { amongKeys } from "../among.ts";
import { isPostgres } from "../copy.ts";
import type { Db } from "../port.ts";
import { type Column, columnFor, TABLES, type Value } from "./columns.ts";

/** Some rows as JSON objects with `,\n` between them; a row itself holds no line feed. */
export type RowText = { text: string; rowCount: number };

type Wanted = { tenantId: string; source: Source; fields: readonly Field[] };

export const BETWEEN_ROWS = ",\n";

const orNull = (text: RawBuilder<unknown>): RawBuilder<string> => sql`coalesce(${text}, 'null')`;

const jsonOf = ({ name, kept }: Column): RawBuilder<string> => {
  const column = sql.ref(name);
  if (kept === "flag") {
    return sql`case ${column} when 1 then 'true' when 0 then 'false' else 'null' end`;
  }
  return kept === "decimal" || kept === "integer" ? orNull(column) : sql`json_quote(${column})`;
};

const opening = ({ field }: Column, place: number): string =>
  `${place === 0 ? "{" : ","}${JSON.stringify(field.name)}:`;

/** A row's JSON text, put together by SQLite: a third of what objects and their text cost here. */
const rowJson = (columns: readonly Column[]): RawBuilder<string> => {
  const parts = columns.flatMap((column, place) => [
    sql.lit(opening(column, place)),
    jsonOf(column),
  ]);
  return sql`concat(${sql.join([...parts, sql.lit("}")])})`;
};

const valueText = ({ kept }: Column, value: Value | undefined): string => {
  if (value === null || value === undefined) return "null";
  if (kept === "flag") return value === 1 ? "true" : "false";
  return kept === "decimal" || kept === "integer" ? String(value) : JSON.stringify(value);
};

/** Numbers that follow one another without a gap are a range; others are listed. */
const within = (db: Db, seqs: readonly number[]): RawBuilder<boolean> => {
  const [first = 0] = seqs;
  const last = seqs.at(-1) ?? 0;
  return last - first === seqs.length - 1
    ? sql`seq >= ${first} and seq <= ${last}`
    : amongKeys(db, "seq", seqs);
};

const fromSqlite = async (db: Db, wanted: Wanted, seqs: readonly number[]): Promise<string> => {
  const columns = wanted.fields.map(columnFor);
  const { rows } = await sql<{ text: string | null }>`
    select group_concat(row, ${sql.lit(BETWEEN_ROWS)}) as text from (
      select ${rowJson(columns)} as row from ${sql.table(TABLES[wanted.source])}
      where tenant_id = ${wanted.tenantId} and ${within(db, seqs)} order by seq)`.execute(db);
  return rows[0]?.text ?? "";
};

const fromPostgres = async (db: Db, wanted: Wanted, seqs: readonly number[]): Promise<string> => {
  const columns = wanted.fields.map(columnFor);
  const names = columns.map(({ name }) => sql.ref(name));
  const { rows } = await sql<Record<string, Value>>`
    select ${sql.join(names)} from ${sql.table(TABLES[wanted.source])}
    where tenant_id = ${wanted.tenantId} and ${within(db, seqs)} order by seq`.execute(db);
  const openings = columns.map(opening);
  return rows
    .map((row) => {
      let text = "";
      for (const [place, column] of columns.entries()) {
        text += openings[place] + valueText(column, row[column.name]);
      }
      return `${text}}`;
    })
    .join(BETWEEN_ROWS);
};

/** The rows of these numbers, in their order. */
export const readRows = async (
  db: Db,
  wanted: Wanted,
  seqs: readonly number[],
): Promise<RowText> => {
  const read = isPostgres(db) ? fromPostgres : fromSqlite;
  return { text: await read(db, wanted, seqs), rowCount: seqs.length };
};
