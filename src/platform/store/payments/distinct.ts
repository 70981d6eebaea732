import { type RawBuilder, sql } from "kysely";
import type { Filter } from "../../../contract/payments/filter.ts";
import { getDialect, type PaymentScan } from "../dialect.ts";
import type { Db } from "../port.ts";
import { findColumn, TABLES } from "./columns.ts";
import { toCondition } from "./filter.ts";

// Reading so many distinct values of an index one after the other takes a few milliseconds.
const MOST_VALUES = 5000;

type Is = Extract<Filter, { as: "is" }>;

/**
 * Turns a condition on parts of an indexed text, such as names of payers, into one on whole values, which the index
 * finds. Undefined if the rows have more distinct values than are worth reading.
 */
export const findWholeValues = async (
  db: Db,
  { tenantId, source }: PaymentScan,
  condition: Is,
): Promise<RawBuilder<boolean> | undefined> => {
  const { compared } = findColumn(condition.field);
  const column = sql.ref(compared);
  const { aggregateJson, isAmong } = getDialect(db);
  const first = (from: RawBuilder<unknown>): RawBuilder<unknown> => sql`(select ${column}
    from ${sql.table(TABLES[source])} where tenant_id = ${tenantId} and ${column} ${from}
    order by ${column} limit 1)`;
  const { rows } = await sql<{ total: number | string; found: string }>`
    with recursive walk as (
      select ${first(sql`>= ''`)} as ${column}
      union all select ${first(sql`> ${sql.ref(`walk.${compared}`)}`)} from walk where ${column} is not null),
    read as materialized (
      select ${column} from walk where ${column} is not null limit ${MOST_VALUES + 1})
    select (select count(*) from read) as total, (select ${aggregateJson(compared)}
      from read where ${toCondition(db, condition)}) as found`.execute(db);
  const [{ total, found } = { total: 0, found: "[]" }] = rows;
  if (Number(total) > MOST_VALUES) return undefined;
  return isAmong(compared, JSON.parse(found) as string[]);
};
