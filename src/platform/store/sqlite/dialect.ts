import type { DatabaseSync } from "node:sqlite";
import type { Dialect, Driver } from "kysely";
import {
  createDialect,
  createDriver,
  TransactionalAdapter,
  type Use,
  WritingAdapter,
} from "../../../kit/sqlite/dialect.ts";
import type { StoreAdapter } from "../dialect.ts";
import { sqliteOperations } from "./operations.ts";

class ReadingAdapter extends TransactionalAdapter implements StoreAdapter {
  readonly operations = sqliteOperations;
}

class Adapter extends WritingAdapter implements StoreAdapter {
  readonly operations = sqliteOperations;
}

// Connections share them, and with them the prepared queries.
const READING = new ReadingAdapter();
const WRITING = new Adapter();

/** Creates the store's SQLite dialect for reading, over a driver. */
export const createSqliteDialect = (driver: () => Driver): Dialect =>
  createDialect(driver, READING);

/** Creates the store's SQLite dialect over an open database. */
export const createDatabaseDialect = (database: DatabaseSync, use: Use): Dialect =>
  createDialect(() => createDriver(database, use), use.exclusive ? WRITING : READING);
