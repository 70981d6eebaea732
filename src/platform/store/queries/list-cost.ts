import { type Expression, sql } from "kysely";
import type { Db } from "../port.ts";

/**
 * The cost of reading the rows of a list:
 * - `indexed`: an index gives them in their order, so a page costs as many rows as there are up to its end;
 * - `sorted`: an index finds them, and all of them are sorted;
 * - `scanned`: more rows are read than are found.
 */
export type ListCost = "indexed" | "sorted" | "scanned";

/** A read of more rows than this runs in a {@link Snapshot}: it would hold the event loop. */
export const SHORT_READ_ROWS = 500;

/** Counts the rows of a query. */
export const countRows = async (db: Db, query: Expression<unknown>): Promise<number> => {
  const { rows } = await sql<{
    total: number | string;
  }>`select count(*) as total from ${query} as counted`.execute(db);
  return Number(rows[0]?.total ?? 0);
};
