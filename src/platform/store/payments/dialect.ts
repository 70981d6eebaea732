import { type RawBuilder, sql, SqliteAdapter } from "kysely";
import type { Db } from "../port.ts";

export const isSqlite = (db: Db): boolean => db.getExecutor().adapter instanceof SqliteAdapter;

/** A list as a single parameter: a statement takes only so many. */
export const among = (
  db: Db,
  column: RawBuilder<unknown>,
  values: readonly (string | number | boolean)[],
): RawBuilder<boolean> => {
  const list = JSON.stringify(values);
  if (isSqlite(db)) return sql`${column} in (select value from json_each(${list}))`;
  return typeof values[0] === "number"
    ? sql`${column} in (select value::double precision from json_array_elements_text(${list}) as list(value))`
    : sql`${column} in (select value from json_array_elements_text(${list}) as list(value))`;
};
