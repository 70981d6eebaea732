import type { DatabaseSync } from "node:sqlite";
import type { Dialect, Driver } from "kysely";
import {
  createDialect,
  createDriver,
  TransactionalAdapter,
  type Use,
} from "../../../kit/sqlite/dialect.ts";
import type { StoreAdapter } from "../dialect.ts";
import { sqliteOperations } from "./operations.ts";

class Adapter extends TransactionalAdapter implements StoreAdapter {
  readonly operations = sqliteOperations;
}

// All connections share the adapter, and with it the prepared queries.
const ADAPTER = new Adapter();

/** Creates the store's SQLite dialect over a driver. */
export const createSqliteDialect = (driver: () => Driver): Dialect =>
  createDialect(driver, ADAPTER);

/** Creates the store's SQLite dialect over an open database. */
export const createDatabaseDialect = (database: DatabaseSync, use: Use): Dialect =>
  createSqliteDialect(() => createDriver(database, use));
