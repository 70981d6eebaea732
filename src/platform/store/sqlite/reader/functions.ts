import type { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { FRAME } from "../../engine/row-frame.ts";

/** Adds to a connection the functions that the store's queries call. */
export const addFunctions = (database: DatabaseSync): DatabaseSync => {
  // Rows are compressed in the thread that reads them, so that large blobs never reach the main thread.
  database.function("zstd", { deterministic: true }, (rows) =>
    rows instanceof Uint8Array ? zstdCompressSync(rows, FRAME) : null,
  );
  return database;
};
