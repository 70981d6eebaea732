import { type CompiledQuery, sql } from "kysely";
import type { ManyRuns } from "../../../kit/sqlite/driver/connection.ts";
import { joinNames } from "../engine/bulk-writes.ts";
import type { DialectOperations, RowTarget } from "../engine/dialect.ts";
import type { Db } from "../port.ts";
import { decimalSums } from "./decimal-sums.ts";
import { partitions } from "./partitions.ts";
import { paymentQueries } from "./payments.ts";
import { searchIndex } from "./search.ts";
import { describeLargeTables } from "./statistics.ts";

const isAmong: DialectOperations["isAmong"] = (column, values) =>
  sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;

/** Compiled inserts of one row, by their tables and columns. */
const inserts = new WeakMap<RowTarget, CompiledQuery>();

const compileInsert = (tx: Db, target: RowTarget): CompiledQuery => {
  const known = inserts.get(target);
  if (known !== undefined) return known;
  const { table, columns, onConflict = sql`` } = target;
  const marks = sql.join(columns.map(() => null));
  const query = sql`insert into ${sql.table(table)} (${joinNames(columns)}) values (${marks}) ${onConflict}`;
  const compiled = query.compile(tx);
  inserts.set(target, compiled);
  return compiled;
};

/**
 * A statement of one row takes two thirds of the time that one of many rows takes, which SQLite gathers first, if it is
 * run without a round through the query builder.
 */
const copyRows: DialectOperations["copyRows"]["run"] = async (tx, target, rows) => {
  const { columns } = target;
  const query: ManyRuns = {
    ...compileInsert(tx, target),
    runs: rows.map((row) => columns.map((column) => row[column] ?? null)),
  };
  await tx.getExecutor().executeQuery(query);
};

const storeInKey: DialectOperations["storeInKey"] = async (db, table, key) => {
  const { rows } = await sql<{ made: string }>`
    select sql as made from sqlite_schema where name = ${table} and sql not like '%without rowid'`.execute(
    db,
  );
  const [found] = rows;
  if (found === undefined) return;
  const former = sql.table(`${table}_by_row`);
  await sql`alter table ${sql.table(table)} rename to ${former}`.execute(db);
  await sql.raw(`${found.made} without rowid`).execute(db);
  await sql`insert into ${sql.table(table)} select * from ${former} order by ${joinNames(key)}`.execute(
    db,
  );
  await sql`drop table ${former}`.execute(db);
};

export const sqliteOperations: DialectOperations = {
  isAmong,
  isAmongKeys: isAmong,
  isAmongFirst: (table, { where, order, most }) =>
    sql`(${where} and (${joinNames(order)}) in (
      select ${joinNames(order)} from ${sql.table(table)} where ${where}
      order by ${joinNames(order)} limit ${most}))`,
  unnest: (texts) => sql`select value from json_each(${JSON.stringify(texts)})`,
  aggregateJson: (column) => sql`json_group_array(${sql.ref(column)})`,
  readJsonMember: (column, member) =>
    sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${member}`)})`,
  copyRows: { least: 2, run: copyRows },
  describeLargeTables,
  storeInKey,
  partitions,
  changesTwoTables: false,
  scansInParallel: false,
  payments: paymentQueries,
  search: searchIndex,
  sums: decimalSums,
  formatWeek: (day) => sql`strftime('%G-W%V', ${day})`,
  formatDay: (number) => sql`date(${number} * 86400, 'unixepoch')`,
  formatLater: (time, seconds) => sql`date(${time}, (${seconds}) || ' seconds')`,
};
