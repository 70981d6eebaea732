import { type RawBuilder, sql } from "kysely";
import { copyInto, copyThrough, isPostgres, type Value } from "./copy.ts";
import type { Db } from "./port.ts";
import { prepared } from "./prepared.ts";
import type { Tables } from "./tables.ts";

type Row<T extends keyof Tables> = Tables[T] & Record<string, Value>;

/** A table's columns, and which of them name a row. */
type Columns<T extends keyof Tables> = Record<keyof Tables[T], "key" | "value">;

type Write<T extends keyof Tables> = (tx: Db, rows: readonly Row<T>[]) => Promise<void>;

// Rows per statement: as few lengths as possible, because each is a statement of its own.
const LENGTHS = [100, 10, 1];

// Below, a stream costs more than it saves.
const FEWEST_COPIED = 50;

const names = (list: readonly string[]) => sql.join(list.map((name) => sql.ref(name)));

const replacing = (columns: Record<string, "key" | "value">): RawBuilder<unknown> => {
  const of = (kind: string) => Object.keys(columns).filter((name) => columns[name] === kind);
  const excluded = of("value").map(
    (name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`,
  );
  return sql`on conflict (${names(of("key"))}) do update set ${sql.join(excluded)}`;
};

/** Statements of few lengths, which together write any number of rows. */
const statements = <T extends keyof Tables>(
  table: T,
  columns: readonly string[],
  ending: RawBuilder<unknown>,
): Write<T> => {
  const runs = LENGTHS.map((length) => ({
    length,
    run: prepared((db: Db, ...values: Value[]) => {
      const rows = Array.from({ length }, (_, place) => {
        const row = values.slice(place * columns.length, (place + 1) * columns.length);
        return sql`(${sql.join(row)})`;
      });
      const query = sql`insert into ${sql.table(table)} (${names(columns)})
        values ${sql.join(rows)} ${ending}`;
      return { compile: () => query.compile(db) };
    }),
  }));
  return async (tx, rows) => {
    let from = 0;
    for (const { length, run } of runs) {
      for (; rows.length - from >= length; from += length) {
        const values: Value[] = [];
        for (const row of rows.slice(from, from + length)) {
          for (const name of columns) values.push(row[name] ?? null);
        }
        await run(tx, ...values);
      }
    }
  };
};

/** Adds many whole rows that are not there yet. */
export const inserting = <T extends keyof Tables>(table: T, columns: Columns<T>): Write<T> => {
  const all = Object.keys(columns);
  const insert = statements(table, all, sql``);
  return (tx, rows) =>
    rows.length >= FEWEST_COPIED && isPostgres(tx)
      ? copyInto(tx, { table, columns: all }, rows)
      : insert(tx, rows);
};

/** Writes many whole rows, new ones and known ones alike; no two of them may have the same key. */
export const upserting = <T extends keyof Tables>(table: T, columns: Columns<T>): Write<T> => {
  const all = Object.keys(columns);
  const ending = replacing(columns);
  const upsert = statements(table, all, ending);
  return (tx, rows) =>
    rows.length >= FEWEST_COPIED && isPostgres(tx)
      ? copyThrough(tx, { table, columns: all }, rows, (staged) =>
          sql`insert into ${sql.table(table)} (${names(all)})
            select ${names(all)} from ${sql.table(staged)} ${ending}`.execute(tx),
        )
      : upsert(tx, rows);
};
