import type { Seal } from "./seal.ts";

/** `unreadable`: values that neither the current key nor a former one opens; they stay as they are. */
export type Renewal = { renewed: number; unreadable: number };

/** Rows per transaction, so that requests get their turn between two of them. */
const BATCH = 200;

/** The columns of the primary key, and the sealed text. */
type Row = { key: Record<string, string>; sealed: string };

/** A column of sealed text. The store that has it implements the queries, within a transaction `Tx`. */
export type SealedColumn<Tx> = {
  /** Lists the first `most` rows after a key, in the order of the keys, without empty texts. */
  list(tx: Tx, after: Row["key"] | undefined, most: number): Promise<Row[]>;
  /** Replaces a text unless it has changed since it was read. */
  replace(tx: Tx, row: Row, sealed: string): Promise<void>;
};

type Transact<Tx> = <T>(act: (tx: Tx) => Promise<T>) => Promise<T>;

/** Whether a key opens one of the first values, or there are none. `openSeal` is called only where there are some. */
export const fitsColumn = async <Tx>(
  db: Tx,
  column: SealedColumn<Tx>,
  openSeal: () => Promise<Pick<Seal, "open">>,
): Promise<boolean> => {
  const rows = await column.list(db, undefined, BATCH);
  if (rows.length === 0) return true;
  const { open } = await openSeal();
  return rows.some(({ sealed }) => open(sealed) !== undefined);
};

/** Seals again what a former key sealed, in short transactions. A second call finishes what an interrupted one began. */
export const renewColumn = async <Tx>(
  transact: Transact<Tx>,
  column: SealedColumn<Tx>,
  seal: Pick<Seal, "open" | "renew">,
): Promise<Renewal> => {
  const result: Renewal = { renewed: 0, unreadable: 0 };
  const step = (after: Row["key"] | undefined): Promise<Row["key"] | undefined> =>
    transact(async (tx) => {
      const rows = await column.list(tx, after, BATCH);
      for (const row of rows) {
        const renewed = seal.renew(row.sealed);
        if (renewed !== undefined) {
          await column.replace(tx, row, renewed);
          result.renewed += 1;
        } else if (seal.open(row.sealed) === undefined) result.unreadable += 1;
      }
      return rows.at(-1)?.key;
    });
  for (let last = await step(undefined); last !== undefined;) last = await step(last);
  return result;
};
