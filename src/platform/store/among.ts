import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "./copy.ts";
import type { Db } from "./port.ts";

/** That a column is one of many values, in one parameter: each length of a list is a statement of its own otherwise. */
export const among = (
  db: Db,
  column: string,
  values: readonly (string | number)[],
): RawBuilder<boolean> =>
  isPostgres(db)
    ? sql<boolean>`${sql.ref(column)} = any(${values})`
    : sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;

/**
 * The same for many values of a key. A query of its own, since PostgreSQL then asks the index for each of them;
 * for a list it may read all rows of a tenant, as long as it has no statistics of a table that grows.
 */
export const amongKeys = (
  db: Db,
  column: string,
  values: readonly string[] | readonly number[],
): RawBuilder<boolean> => {
  if (!isPostgres(db)) return among(db, column, values);
  const type = typeof values[0] === "number" ? sql`bigint[]` : sql`text[]`;
  return sql<boolean>`${sql.ref(column)} in (select unnest(cast(${values} as ${type})))`;
};
