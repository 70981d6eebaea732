import { type RawBuilder, sql } from "kysely";
import { getDialect } from "../engine/dialect.ts";
import type { Db } from "../port.ts";

// Reading so many distinct values of an index one after the other takes a few milliseconds.
const MOST_VALUES = 5000;

/** A text column with an index by tenant and value. */
type Indexed = { table: string; column: string; tenantId: string };

/**
 * Finds the distinct values of an indexed column for which a condition on the column holds. Undefined if the rows have
 * more distinct values than are worth reading.
 */
export const findDistinct = async (
  db: Db,
  { table, column, tenantId }: Indexed,
  holds: RawBuilder<boolean>,
): Promise<string[] | undefined> => {
  const value = sql.ref(column);
  const first = (from: RawBuilder<unknown>): RawBuilder<unknown> => sql`(select ${value}
    from ${sql.table(table)} where tenant_id = ${tenantId} and ${value} ${from}
    order by ${value} limit 1)`;
  const { rows } = await sql<{ total: number | string; found: string }>`
    with recursive walk as (
      select ${first(sql`>= ''`)} as ${value}
      union all select ${first(sql`> ${sql.ref(`walk.${column}`)}`)} from walk where ${value} is not null),
    read as materialized (
      select ${value} from walk where ${value} is not null limit ${MOST_VALUES + 1})
    select (select count(*) from read) as total, (select ${getDialect(db).aggregateJson(column)}
      from read where ${holds}) as found`.execute(db);
  const [{ total, found } = { total: 0, found: "[]" }] = rows;
  return Number(total) > MOST_VALUES ? undefined : (JSON.parse(found) as string[]);
};
