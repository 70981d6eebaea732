import { sql } from "kysely";
import { getDialect } from "../engine/dialect.ts";
import { fold } from "../engine/fold.ts";
import type { Db } from "../port.ts";

type Target = { table: "accounts" | "disputes" | "documents"; column: string; tenantId: string };

/** The pattern of a value in which every character but the ASCII ones is open. */
const toPattern = (value: string): string =>
  fold(value)
    .replaceAll(/[\\%_]/g, "\\$&")
    .replaceAll(/\P{ASCII}+/gu, "%");

/**
 * Finds how the values are written in a column, letter case ignored. The databases fold ASCII letters alike, so they
 * find candidates in the column's index; the program compares them.
 */
export const findSpellings = async (
  db: Db,
  { table, column, tenantId }: Target,
  values: readonly string[],
): Promise<string[]> => {
  const folded = new Set(values.map(fold));
  const isPlain = [...folded].every((value) => !/\P{ASCII}/u.test(value));
  const lower = sql`lower(${sql.ref(column)})`;
  const found = isPlain
    ? sql`${lower} in (select value from (${getDialect(db).unnest([...folded])}) as sought)`
    : sql`(${sql.join(
        [...folded].map((value) => sql`${lower} like ${toPattern(value)} escape '\\'`),
        sql` or `,
      )})`;
  const { rows } = await sql<{ value: string }>`
    select distinct ${sql.ref(column)} as value from ${sql.table(table)}
    where tenant_id = ${tenantId} and ${found}`.execute(db);
  return rows.map(({ value }) => value).filter((value) => folded.has(fold(value)));
};
