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

const CACHED_STATEMENTS = 500;

// node:sqlite takes an object in first place for named parameters and would store NULL without a word.
const checkParameters = (parameters: readonly unknown[]): readonly SQLInputValue[] => {
  for (const value of parameters) {
    if (value === null || typeof value === "string" || typeof value === "number") continue;
    throw new TypeError(`a ${typeof value} cannot be stored`);
  }
  return parameters as readonly SQLInputValue[];
};

type Prepared = { statement: StatementSync; givesRows: boolean };

/** Kysely's view of one open database; statements are prepared once. */
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
    // Asking for the columns costs as much as a point read, so it is asked once.
    const made = { statement, givesRows: statement.columns().length > 0 };
    if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
    this.#statements.set(text, made);
    return made;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { statement, givesRows } = this.#prepare(query.sql);
    const parameters = checkParameters(query.parameters);
    if (givesRows) return { rows: statement.all(...parameters) as Row[] };
    const { changes } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // A statement of its own: a cached one may be run again while its rows are still being read.
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

/** Hands its one connection to one user at a time, in the order they asked. */
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

class SqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #connection: Connection;
  readonly #queue = new Queue();
  readonly #exclusive: boolean;
  #leave: () => void = () => {};

  constructor(database: DatabaseSync, exclusive: boolean) {
    this.#database = database;
    this.#connection = new Connection(database);
    this.#exclusive = exclusive;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Connection> {
    if (this.#exclusive) this.#leave = await this.#queue.enter();
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    if (this.#exclusive) this.#leave();
  }

  // Deferred transactions that read and then write fail under concurrency whatever the timeout.
  async beginTransaction(connection: Connection): Promise<void> {
    connection.run("begin immediate");
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

class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** `exclusive`: one user at a time, as a writer needs; readers share. */
export const sqliteDialect = (database: DatabaseSync, exclusive: boolean): Dialect => ({
  createDriver: () => new SqliteDriver(database, exclusive),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new Adapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});
