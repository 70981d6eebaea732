import { CompiledQuery, sql } from "kysely";
import { joinNames } from "../engine/bulk-writes.ts";
import type { DialectOperations, RowTarget, Value } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { decimalSums } from "./decimal-sums.ts";
import { partitions } from "./partitions.ts";
import { paymentQueries } from "./payments.ts";
import { searchIndex } from "./search.ts";
import { describeLargeTables } from "./statistics.ts";

const ESCAPED: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

const SPECIAL = /[\\\t\n\r]/;
const SPECIALS = /[\\\t\n\r]/g;

const toCopyText = (value: Value | undefined): string => {
  if (value === null || value === undefined) return "\\N";
  if (typeof value === "number") return String(value);
  if (!SPECIAL.test(value)) return value;
  return value.replaceAll(SPECIALS, (character) => ESCAPED[character] ?? character);
};

type Rows = readonly Record<string, Value>[];

const copyInto = async (tx: Db, { table, columns }: RowTarget, rows: Rows): Promise<void> => {
  let text = "";
  for (const row of rows) {
    text += columns.map((column) => toCopyText(row[column])).join("\t");
    text += "\n";
  }
  const names = joinNames(columns);
  const statement = sql`copy ${sql.table(table)} (${names}) from stdin`.compile(tx);
  await tx.executeQuery(CompiledQuery.raw(statement.sql, [text]));
};

// For fewer rows, statements are faster than the bulk protocol.
const MIN_COPIED = 50;

/** COPY knows no `on conflict`: rows that may exist go through a temporary table. */
const copyRows = async (tx: Db, target: RowTarget, rows: Rows): Promise<void> => {
  const { table, columns, onConflict } = target;
  if (onConflict === undefined) return copyInto(tx, target, rows);
  const staged = `staged_${table}`;
  const [into, from] = [sql.table(table), sql.table(staged)];
  await sql`create temporary table ${from} (like ${into}) on commit drop`.execute(tx);
  await copyInto(tx, { table: staged, columns }, rows);
  const names = joinNames(columns);
  await sql`insert into ${into} (${names}) select ${names} from ${from} ${onConflict}`.execute(tx);
  await sql`drop table ${from}`.execute(tx);
};

export const postgresOperations: DialectOperations = {
  isAmong: (column, values) => sql`${sql.ref(column)} = any(${values})`,
  // For a subquery PostgreSQL looks up each key in the index. For an array it may scan all rows of a tenant while it
  // has no statistics of a growing table.
  isAmongKeys(column, values) {
    const type = typeof values[0] === "number" ? sql`bigint[]` : sql`text[]`;
    return sql`${sql.ref(column)} in (select unnest(cast(${values} as ${type})))`;
  },
  // Rows of different parts of a table may have the same ctid, hence the condition on the outer rows.
  isAmongFirst: (table, { where, order, most }) =>
    sql`(${where} and ctid = any(array(select ctid from ${sql.table(table)} where ${where}
      order by ${joinNames(order)} limit ${most})))`,
  unnest: (texts) => sql`select unnest(cast(${texts} as text[])) as value`,
  aggregateJson: (column) => sql`coalesce(json_agg(${sql.ref(column)}), '[]'::json)::text`,
  readJsonMember: (column, member) => sql`${sql.ref(column)}::json ->> ${sql.lit(member)}`,
  copyRows: { least: MIN_COPIED, run: copyRows },
  describeLargeTables,
  // PostgreSQL has no such tables.
  async storeInKey() {},
  partitions,
  changesTwoTables: true,
  scansInParallel: true,
  payments: paymentQueries,
  search: searchIndex,
  sums: decimalSums,
  formatWeek: (day) => sql`to_char(cast(${day} as date), 'IYYY"-W"IW') collate "C"`,
  formatDay: (number) =>
    sql`to_char(date '1970-01-01' + cast(${number} as integer), 'YYYY-MM-DD') collate "C"`,
  // A timestamp without a time zone ignores that of the text, which is UTC.
  formatLater: (time, seconds) =>
    sql`to_char(cast(${time} as timestamp) + (${seconds}) * interval '1 second', 'YYYY-MM-DD') collate "C"`,
};
