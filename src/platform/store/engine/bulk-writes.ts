import { type RawBuilder, sql } from "kysely";
import { getDialect, type Value } from "./dialect.ts";
import type { Db } from "../port.ts";
import { prepareQuery } from "./prepared.ts";
import type { Tables } from "../tables/schema.ts";

type Row = Record<string, Value>;
type Write = (tx: Db, rows: readonly Row[]) => Promise<void>;

// Rows per statement. Few lengths, because each one is another prepared statement.
const LENGTHS = [100, 10, 1];

/** Joins names of columns with commas. */
export const joinNames = (list: readonly string[]) => sql.join(list.map((name) => sql.ref(name)));

const buildOnConflict = (columns: readonly string[], key: readonly string[]) => {
  const excluded = columns
    .filter((name) => !key.includes(name))
    .map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`);
  return sql`on conflict (${joinNames(key)}) do update set ${sql.join(excluded)}`;
};

/** Creates a function that writes any number of rows with statements of few lengths. */
const createStatements = (
  table: string,
  columns: readonly string[],
  ending: RawBuilder<unknown>,
): Write => {
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

const createWrite = (table: string, columns: readonly string[], key: readonly string[]): Write => {
  const onConflict = key.length === 0 ? undefined : buildOnConflict(columns, key);
  const write = createStatements(table, columns, onConflict ?? sql``);
  const target = { table, columns, ...(onConflict === undefined ? {} : { onConflict }) };
  return (tx, rows) => {
    const { copyRows } = getDialect(tx);
    return rows.length >= copyRows.least ? copyRows.run(tx, target, rows) : write(tx, rows);
  };
};

const writes = new Map<string, Write>();

/** Writes rows that have the columns of the first one. */
const writeAll = async (
  tx: Db,
  table: keyof Tables,
  key: readonly string[],
  rows: readonly object[],
): Promise<void> => {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const name = JSON.stringify([table, key, columns]);
  const write = writes.get(name) ?? createWrite(table, columns, key);
  writes.set(name, write);
  await write(tx, rows as readonly Row[]);
};

/** Inserts complete rows, none of which exists. */
export const insertAll = <T extends keyof Tables>(
  tx: Db,
  table: T,
  rows: readonly Tables[T][],
): Promise<void> => writeAll(tx, table, [], rows);

/** Creates a function that inserts or replaces complete rows; no two of them may have the same key. */
export const createUpsert =
  <T extends keyof Tables>(table: T, key: readonly (keyof Tables[T] & string)[]) =>
  (tx: Db, rows: readonly Tables[T][]): Promise<void> =>
    writeAll(tx, table, key, rows);
