import { isDeepStrictEqual } from "node:util";
import type { Fault } from "../../contract/errors.ts";
import type { Tables } from "../store/tables/schema.ts";
import type { Accepted, Journal, Outcome } from "./target.ts";

type Upserts<Values, Row> = {
  rows: readonly Accepted<Values>[];
  /** The stored rows with the same keys. */
  known: readonly Row[];
  keyOf(row: Row): string;
  /** Converts values to the row to store, or to faults. */
  rowOf(values: Values): Row | Fault[];
  put(changed: Row[]): Promise<void>;
  table: keyof Tables;
  journal: Journal;
};

/** Writes each record that differs from the stored one; of several with the same key the last one is stored. */
export const saveChanged = async <Values, Row extends object>(
  upserts: Upserts<Values, Row>,
): Promise<Outcome[]> => {
  const { rows, keyOf, rowOf, put, table, journal } = upserts;
  const before = new Map(upserts.known.map((row) => [keyOf(row), row]));
  const known = new Map(upserts.known.map((row) => [keyOf(row), row]));
  const changed = new Map<string, Row>();
  const outcomes = rows.map(({ values }): Outcome => {
    const row = rowOf(values);
    if (Array.isArray(row)) return row;
    const key = keyOf(row);
    if (isDeepStrictEqual({ ...known.get(key) }, row)) return "unchanged";
    known.set(key, row);
    changed.set(key, row);
    return "written";
  });
  await put([...changed.values()]);
  for (const [key, row] of changed) {
    const old = before.get(key);
    if (old === undefined) journal.created(table, [row as never]);
    else journal.changed(table, old as never, row as never);
  }
  return outcomes;
};
