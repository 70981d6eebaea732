import { type RawBuilder, sql } from "kysely";
import { getDialect, type Value } from "./dialect.ts";
import type { Db } from "./port.ts";
import { prepareQuery } from "./prepared.ts";
import type { Tables } from "./tables.ts";

type Row<T extends keyof Tables> = Tables[T] & Record<string, Value>;

/** All columns of a table; those of kind `key` identify a row. */
type Columns<T extends keyof Tables> = Record<keyof Tables[T], "key" | "value">;

type Write<T extends keyof Tables> = (tx: Db, rows: readonly Row<T>[]) => Promise<void>;

// Rows per statement. Few lengths, because each one is another prepared statement.
const LENGTHS = [100, 10, 1];

// For fewer rows, statements are faster than the bulk protocol.
const MIN_COPIED = 50;

const joinNames = (list: readonly string[]) => sql.join(list.map((name) => sql.ref(name)));

const buildOnConflict = (columns: Record<string, "key" | "value">): RawBuilder<unknown> => {
  const pick = (kind: string) => Object.keys(columns).filter((name) => columns[name] === kind);
  const excluded = pick("value").map(
    (name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`,
  );
  return sql`on conflict (${joinNames(pick("key"))}) do update set ${sql.join(excluded)}`;
};

/** Creates a function that writes any number of rows with statements of few lengths. */
const createStatements = <T extends keyof Tables>(
  table: T,
  columns: readonly string[],
  ending: RawBuilder<unknown>,
): Write<T> => {
  const runs = LENGTHS.map((length) => ({
    length,
    run: prepareQuery((db: Db, ...values: Value[]) => {
      const rows = Array.from({ length }, (_, place) => {
        const row = values.slice(place * columns.length, (place + 1) * columns.length);
        return sql`(${sql.join(row)})`;
      });
      const query = sql`insert into ${sql.table(table)} (${joinNames(columns)})
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

const createWrite = <T extends keyof Tables>(
  table: T,
  columns: Columns<T>,
  onConflict: RawBuilder<unknown> | undefined,
): Write<T> => {
  const all = Object.keys(columns);
  const write = createStatements(table, all, onConflict ?? sql``);
  const target = { table, columns: all, ...(onConflict === undefined ? {} : { onConflict }) };
  return (tx, rows) => {
    const { copyRows } = getDialect(tx);
    return rows.length >= MIN_COPIED && copyRows !== undefined
      ? copyRows(tx, target, rows)
      : write(tx, rows);
  };
};

/** Creates a function that adds many complete rows, none of which exists. */
export const createBulkInsert = <T extends keyof Tables>(table: T, columns: Columns<T>): Write<T> =>
  createWrite(table, columns, undefined);

/** Creates a function that inserts or replaces many complete rows; no two of them may have the same key. */
export const createBulkUpsert = <T extends keyof Tables>(table: T, columns: Columns<T>): Write<T> =>
  createWrite(table, columns, buildOnConflict(columns));

const inserts = new Map<string, Write<never>>();

/** Inserts rows that have the columns of the first one. TypeScript cannot prove that for any table. */
export const insertAll = async (
  tx: Db,
  table: keyof Tables,
  rows: readonly object[],
): Promise<void> => {
  const names = Object.keys(rows[0] ?? {});
  const key = `${table} ${names.join()}`;
  let insert = inserts.get(key);
  if (insert === undefined) {
    insert = createWrite(
      table,
      Object.fromEntries(names.map((name) => [name, "value"])) as never,
      undefined,
    );
    inserts.set(key, insert);
  }
  await insert(tx, rows as never);
};
