import type { DatabaseSync } from "node:sqlite";
import type { Dialect, Driver } from "kysely";
import { Adapter, createDialect, createDriver, type Use } from "../../../kit/sqlite/dialect.ts";
import type { StoreAdapter } from "../engine/dialect.ts";
import { sqliteOperations } from "./operations.ts";

class SqliteStoreAdapter extends Adapter implements StoreAdapter {
  readonly operations = sqliteOperations;
}

// Connections share it, and with it the prepared queries.
const ADAPTER = new SqliteStoreAdapter();

/** Creates the store's SQLite dialect for reading, over a driver. */
export const createSqliteDialect = (driver: () => Driver): Dialect =>
  createDialect(driver, ADAPTER);

/** Creates the store's SQLite dialect over an open database. */
export const createDatabaseDialect = (database: DatabaseSync, use: Use): Dialect =>
  createDialect(() => createDriver(database, use), ADAPTER);
