/**
 * The cost of reading the rows of a list:
 * - `indexed`: an index gives them in their order, so a page costs as many rows as there are up to its end;
 * - `sorted`: an index finds them, and all of them are sorted;
 * - `scanned`: more rows are read than are found.
 */
export type ListCost = "indexed" | "sorted" | "scanned";

/** A read of more rows than this runs in a {@link Snapshot}: it would hold the event loop. */
export const SHORT_READ_ROWS = 500;
