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
