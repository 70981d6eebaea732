import { type RawBuilder, sql } from "kysely";
import type { Source } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { amongKeys } from "../among.ts";
import { isPostgres } from "../copy.ts";
import type { Db } from "../port.ts";
import { type Column, columnFor, TABLES, type Value } from "./columns.ts";

/** Some rows as the bytes of JSON objects with `,\n` between them; a row itself holds no line feed. */
export type RowBytes = { bytes: Uint8Array; rowCount: number };

export type Wanted = { tenantId: string; source: Source; fields: readonly Field[] };

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
export const numbered = (db: Db, seqs: readonly number[]): RawBuilder<boolean> => {
  const [first = 0] = seqs;
  const last = seqs.at(-1) ?? 0;
  return last - first === seqs.length - 1
    ? sql`seq >= ${first} and seq <= ${last}`
    : amongKeys(db, "seq", seqs);
};

/** Reads the rows of which something is true, in their order. */
type ReadRows = (where: RawBuilder<boolean>) => Promise<RowBytes>;

const NONE = new Uint8Array();

const fromSqlite = (db: Db, { tenantId, source, fields }: Wanted): ReadRows => {
  const json = rowJson(fields.map(columnFor));
  // Compiling so many parts takes as long as reading a hundred rows.
  const row = sql.raw(json.compile(db).sql);
  return async (where) => {
    // As bytes, which are what is sent and compressed: text would become a string and bytes again.
    const { rows } = await sql<{ rowCount: number; bytes: Uint8Array | null }>`
      select count(*) as "rowCount", cast(group_concat(row, ${sql.lit(BETWEEN_ROWS)}) as blob) as bytes
      from (select ${row} as row from ${sql.table(TABLES[source])}
        where tenant_id = ${tenantId} and ${where} order by seq)`.execute(db);
    const { rowCount = 0, bytes } = rows[0] ?? {};
    return { rowCount, bytes: bytes ?? NONE };
  };
};

const fromPostgres = (db: Db, { tenantId, source, fields }: Wanted): ReadRows => {
  const columns = fields.map(columnFor);
  const names = columns.map(({ name }) => sql.ref(name));
  const openings = columns.map(opening);
  const textOf = (row: Record<string, Value>): string => {
    let text = "";
    for (const [place, column] of columns.entries()) {
      text += openings[place] + valueText(column, row[column.name]);
    }
    return `${text}}`;
  };
  return async (where) => {
    const { rows } = await sql<Record<string, Value>>`
      select ${sql.join(names)} from ${sql.table(TABLES[source])}
      where tenant_id = ${tenantId} and ${where} order by seq`.execute(db);
    return { rowCount: rows.length, bytes: Buffer.from(rows.map(textOf).join(BETWEEN_ROWS)) };
  };
};

/** How the rows of a source are read; what its statements have in common is put together once. */
export const rowReader = (db: Db, wanted: Wanted): ReadRows =>
  isPostgres(db) ? fromPostgres(db, wanted) : fromSqlite(db, wanted);
