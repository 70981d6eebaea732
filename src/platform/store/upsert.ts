import { sql } from "kysely";
import type { Db } from "./port.ts";
import { prepared } from "./prepared.ts";
import type { Tables } from "./tables.ts";

type Value = string | number | null;
type Row<T extends keyof Tables> = Tables[T] & Record<string, Value>;

// Rows per statement: as few lengths as possible, because each is a statement of its own.
const LENGTHS = [100, 10, 1];

const statement = (table: keyof Tables, columns: readonly string[], key: readonly string[]) => {
  const others = columns.filter((column) => !key.includes(column));
  const names = (list: readonly string[]) => sql.join(list.map((name) => sql.ref(name)));
  const excluded = others.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  return prepared((db: Db, ...values: Value[]) => {
    const rows = Array.from({ length: values.length / columns.length }, (_, place) => {
      const row = values.slice(place * columns.length, (place + 1) * columns.length);
      return sql`(${sql.join(row)})`;
    });
    const query = sql`insert into ${sql.table(table)} (${names(columns)})
      values ${sql.join(rows)}
      on conflict (${names(key)}) do update set ${sql.join(excluded)}`;
    return { compile: () => query.compile(db) };
  });
};

/**
 * Writes many whole rows, new ones and known ones alike, in statements that are compiled once.
 * No two of them may have the same key.
 */
export const upserting = <T extends keyof Tables>(
  table: T,
  columns: Record<keyof Tables[T], "key" | "value">,
) => {
  const names = Object.keys(columns) as (keyof Tables[T] & string)[];
  const key = names.filter((name) => columns[name] === "key");
  const statements = LENGTHS.map((length) => ({ length, run: statement(table, names, key) }));
  return async (tx: Db, rows: readonly Row<T>[]): Promise<void> => {
    let from = 0;
    for (const { length, run } of statements) {
      for (; rows.length - from >= length; from += length) {
        const values: Value[] = [];
        for (const row of rows.slice(from, from + length)) {
          for (const name of names) values.push(row[name]);
        }
        await run(tx, ...values);
      }
    }
  };
};
