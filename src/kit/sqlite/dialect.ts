import type { DatabaseSync } from "node:sqlite";
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type LimitNode,
  type OffsetNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { Connection } from "./driver/connection.ts";
import { WritingDriver } from "./driver/writer.ts";

export type Use = {
  /** Only one transaction at a time has the connection; readers share it, and have none. */
  exclusive: boolean;
  /** Time in milliseconds to retry `begin` while another process writes; the retries do not block the event loop. */
  retryMs: number;
};

/** Creates a driver over a connection that readers share. It has no transactions. */
export const createReadingDriver = (
  connection: DatabaseConnection,
  close: () => void = () => {},
): Driver => {
  const refuse = () => Promise.reject(new Error("this connection can only read"));
  return {
    async init() {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    async releaseConnection() {},
    destroy: async () => close(),
  };
};

/** Closes connections that Kysely leaves open: `destroy` does nothing where no query was asked. */
export const closeUnused = (databases: readonly DatabaseSync[]): void => {
  for (const database of databases) if (database.isOpen) database.close();
};

/** Kysely's adapter with two defaults corrected. */
export class Adapter extends SqliteAdapter {
  /** SQLite can create tables in a transaction. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  /** Queries do not wait for each other in Kysely: transactions wait in the driver, and reads need not. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * SQLite plans a statement for the value of its limit and compiles it again at each run, which takes longer than to read
 * a page. It does not look into an expression.
 */
class Compiler extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append("limit +");
    this.visitNode(limit);
  }

  protected override visitOffset({ offset }: OffsetNode): void {
    this.append("offset +");
    this.visitNode(offset);
  }
}

/** Creates a SQLite dialect over a driver and an adapter. */
export const createDialect = (createDriver: () => Driver, adapter: SqliteAdapter): Dialect => ({
  createDriver,
  createQueryCompiler: () => new Compiler(),
  createAdapter: () => adapter,
  createIntrospector: (db) => new SqliteIntrospector(db),
});

/** Creates a driver over an open database. */
export const createDriver = (database: DatabaseSync, { exclusive, retryMs }: Use): Driver =>
  exclusive
    ? new WritingDriver(database, retryMs)
    : createReadingDriver(new Connection(database), () => database.close());
