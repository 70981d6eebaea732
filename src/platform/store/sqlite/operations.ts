import { sql } from "kysely";
import type { DialectOperations } from "../engine/dialect.ts";
import { decimalSums } from "./decimal-sums.ts";
import { partitions } from "./partitions.ts";
import { paymentQueries } from "./payments.ts";
import { searchIndex } from "./search.ts";
import { describeLargeTables } from "./statistics.ts";

const isAmong: DialectOperations["isAmong"] = (column, values) =>
  sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;

export const sqliteOperations: DialectOperations = {
  isAmong,
  isAmongKeys: isAmong,
  isAmongFirst: (table, { where, order, most }) =>
    sql`rowid in (select rowid from ${sql.table(table)} where ${where}
      order by ${sql.join(order.map((column) => sql.ref(column)))} limit ${most})`,
  unnest: (texts) => sql`select value from json_each(${JSON.stringify(texts)})`,
  aggregateJson: (column) => sql`json_group_array(${sql.ref(column)})`,
  readJsonMember: (column, member) =>
    sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${member}`)})`,
  copyRows: undefined,
  describeLargeTables,
  partitions,
  changesTwoTables: false,
  payments: paymentQueries,
  search: searchIndex,
  sums: decimalSums,
  formatWeek: (day) => sql`strftime('%G-W%V', ${day})`,
  formatDay: (number) => sql`date(${number} * 86400, 'unixepoch')`,
  formatLater: (time, seconds) => sql`date(${time}, (${seconds}) || ' seconds')`,
};
