import { sql } from "kysely";
import type { DialectOperations } from "../dialect.ts";
import { paymentQueries } from "./payments.ts";

const isAmong: DialectOperations["isAmong"] = (column, values) =>
  sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;

export const sqliteOperations: DialectOperations = {
  isAmong,
  isAmongKeys: isAmong,
  aggregateJson: (column) => sql`json_group_array(${sql.ref(column)})`,
  readJsonMember: (column, member) =>
    sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${member}`)})`,
  copyRows: undefined,
  payments: paymentQueries,
};
