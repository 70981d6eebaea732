import { type QueryExecutorProvider, sql } from "kysely";
import type { Seal } from "./seal.ts";

/** A column of sealed text, and the primary key of its table. */
export type SealedColumn = { table: string; column: string; key: readonly string[] };

/** `unreadable`: values that neither the current key nor a former one opens; they stay as they are. */
export type Renewal = { renewed: number; unreadable: number };

/** Rows per transaction, so that requests get their turn between two of them. */
const BATCH = 200;

type Row = Record<string, string>;
type Transact = <T>(act: (tx: QueryExecutorProvider) => Promise<T>) => Promise<T>;

const joinNames = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

const selectAfter = async (
  tx: QueryExecutorProvider,
  { table, column, key }: SealedColumn,
  after: Row | undefined,
): Promise<Row[]> => {
  const isLater =
    after === undefined
      ? sql`1 = 1`
      : sql`(${joinNames(key)}) > (${sql.join(key.map((name) => after[name]))})`;
  const { rows } = await sql<Row>`
    select ${joinNames([...key, column])} from ${sql.table(table)}
    where ${isLater} and ${sql.ref(column)} <> ''
    order by ${joinNames(key)} limit ${BATCH}`.execute(tx);
  return rows;
};

/** Whether a key opens one of the first values, or there are none. `openSeal` is called only where there are some. */
export const fitsColumn = async (
  db: QueryExecutorProvider,
  place: SealedColumn,
  openSeal: () => Promise<Pick<Seal, "open">>,
): Promise<boolean> => {
  const rows = await selectAfter(db, place, undefined);
  if (rows.length === 0) return true;
  const { open } = await openSeal();
  return rows.some((row) => open(row[place.column] ?? "") !== undefined);
};

/** Replaces a value unless it has changed since it was read. */
const replace = async (
  tx: QueryExecutorProvider,
  { table, column, key }: SealedColumn,
  row: Row,
  value: string,
): Promise<void> => {
  const isSame = [...key, column].map((name) => sql`${sql.ref(name)} = ${row[name]}`);
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${value}
    where ${sql.join(isSame, sql` and `)}`.execute(tx);
};

/** Seals again what a former key sealed, in short transactions. A second call finishes what an interrupted one began. */
export const renewColumn = async (
  transact: Transact,
  place: SealedColumn,
  seal: Pick<Seal, "open" | "renew">,
): Promise<Renewal> => {
  const result: Renewal = { renewed: 0, unreadable: 0 };
  const step = (after: Row | undefined): Promise<Row | undefined> =>
    transact(async (tx) => {
      const rows = await selectAfter(tx, place, after);
      for (const row of rows) {
        const sealed = row[place.column] ?? "";
        const renewed = seal.renew(sealed);
        if (renewed !== undefined) {
          await replace(tx, place, row, renewed);
          result.renewed += 1;
        } else if (seal.open(sealed) === undefined) result.unreadable += 1;
      }
      return rows.at(-1);
    });
  for (let last = await step(undefined); last !== undefined;) last = await step(last);
  return result;
};
