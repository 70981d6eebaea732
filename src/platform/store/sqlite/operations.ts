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

export const sqliteOperations: DialectOperations = {
  isAmong,
  isAmongKeys: isAmong,
  isAmongFirst: (table, { where, order, most }) =>
    sql`rowid in (select rowid from ${sql.table(table)} where ${where}
      order by ${joinNames(order)} limit ${most})`,
  unnest: (texts) => sql`select value from json_each(${JSON.stringify(texts)})`,
  aggregateJson: (column) => sql`json_group_array(${sql.ref(column)})`,
  readJsonMember: (column, member) =>
    sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${member}`)})`,
  copyRows: { least: 2, run: copyRows },
  describeLargeTables,
  partitions,
  changesTwoTables: false,
  payments: paymentQueries,
  search: searchIndex,
  sums: decimalSums,
  joinLast: ({ table, name, by, where }) => sql`join ${sql.table(table)} as ${sql.ref(name)}
    on ${sql.ref(`${name}.rowid`)} = (
      select later.rowid from ${sql.table(table)} as later where ${where("later")}
      order by ${sql.ref(`later.${by}`)} desc limit 1)`,
  formatWeek: (day) => sql`strftime('%G-W%V', ${day})`,
  formatDay: (number) => sql`date(${number} * 86400, 'unixepoch')`,
  formatLater: (time, seconds) => sql`date(${time}, (${seconds}) || ' seconds')`,
};
