import { setImmediate } from "node:timers/promises";
import type { TimeZone } from "../../../kit/time-zone.ts";
import type { Cell, Column, Row } from "./cells.ts";

/** The facts about a table, such as its filter: pairs of a name and a value. */
export type Facts = readonly (readonly [string, Cell])[];

export type Table = {
  columns: readonly Column[];
  /** The rows in the parts in which they are read. */
  rows: AsyncIterable<readonly Row[]>;
  /** The clocks of the tenant, which times in spreadsheets show. */
  zone: TimeZone;
  /** Read after the last row. */
  facts(): Facts;
};

/** Formatting so many rows takes a few milliseconds. */
const BATCH_ROWS = 250;

/** Divides the rows, and gives the event loop a turn before each batch. */
export async function* inBatches(
  parts: AsyncIterable<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for await (const rows of parts) {
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      await setImmediate();
      yield rows.slice(from, from + BATCH_ROWS);
    }
  }
}
