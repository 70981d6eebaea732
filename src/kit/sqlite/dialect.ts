import { setTimeout } from "node:timers/promises";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { isSqliteBusy } from "./outage.ts";

const CACHED_STATEMENTS = 500;

/** The wait for another process's write, in milliseconds. It is long because SQLite's lock is not fair. */
export const BUSY_MS = 15_000;
const RETRY_MS = 5;

/**
 * Returns the parameters of a statement. Checks them, because node:sqlite takes an object in first place for named
 * parameters, and then stores NULL.
 */
export const checkParameters = (parameters: readonly unknown[]): readonly SQLInputValue[] => {
  for (const value of parameters) {
    if (value === null || typeof value === "string" || typeof value === "number") continue;
    throw new TypeError(`a ${typeof value} cannot be stored`);
  }
  return parameters as readonly SQLInputValue[];
};

type Prepared = { statement: StatementSync; givesRows: boolean };

/** A Kysely connection over one open database; statements are prepared once. */
class Connection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  run(statement: string): void {
    this.#database.exec(statement);
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  #prepare(text: string): Prepared {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    // Cached because reading the columns takes as long as a point read.
    const prepared = { statement, givesRows: statement.columns().length > 0 };
    if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
    this.#statements.set(text, prepared);
    return prepared;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { statement, givesRows } = this.#prepare(query.sql);
    const parameters = checkParameters(query.parameters);
    if (givesRows) return { rows: statement.all(...parameters) as Row[] };
    const { changes } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // Not a cached statement: that one may run again while its rows are still being read.
  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const statement = this.#database.prepare(query.sql);
    let rows: Row[] = [];
    for (const row of statement.iterate(...checkParameters(query.parameters))) {
      rows.push(row as Row);
      if (rows.length < chunkSize) continue;
      yield { rows };
      rows = [];
    }
    if (rows.length > 0) yield { rows };
  }
}

/** Gives the connection to one transaction at a time, in the order of the requests. */
class Queue {
  #tail: Promise<void> = Promise.resolve();

  async enter(): Promise<() => void> {
    const before = this.#tail;
    let leave = (): void => {};
    this.#tail = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }
}

export type Use = {
  /** Only one transaction at a time has the connection; readers share it. */
  exclusive: boolean;
  /** Time in milliseconds to retry `begin` while another process writes; the retries do not block the event loop. */
  retryMs: number;
};

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: Connection;
  readonly #queue = new Queue();
  readonly #use: Use;
  #leave: () => void = () => {};

  constructor(database: DatabaseSync, use: Use) {
    this.#database = database;
    this.#connection = new Connection(database);
    this.#use = use;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Connection> {
    if (this.#use.exclusive) this.#leave = await this.#queue.enter();
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    if (this.#use.exclusive) this.#leave();
  }

  // A deferred transaction that reads before it writes fails under concurrency despite a timeout.
  async beginTransaction(connection: Connection): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return connection.run("begin immediate");
      } catch (error) {
        if (!isSqliteBusy(error) || tries * RETRY_MS >= this.#use.retryMs) throw error;
      }
      // SQLite's own wait for another process's write would hold the event loop.
      // oxlint-disable-next-line no-await-in-loop -- a retry
      await setTimeout(RETRY_MS);
    }
  }

  async commitTransaction(connection: Connection): Promise<void> {
    connection.run("commit");
  }

  async rollbackTransaction(connection: Connection): Promise<void> {
    if (connection.inTransaction) connection.run("rollback");
  }

  async destroy(): Promise<void> {
    this.#database.close();
  }
}

/** Kysely's adapter with its default corrected: SQLite can create tables in a transaction. */
export class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Creates a SQLite dialect over a driver and an adapter. */
export const createDialect = (createDriver: () => Driver, adapter: SqliteAdapter): Dialect => ({
  createDriver,
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => adapter,
  createIntrospector: (db) => new SqliteIntrospector(db),
});

/** Creates a driver over an open database. */
export const createDriver = (database: DatabaseSync, use: Use): Driver =>
  new SqliteDriver(database, use);
