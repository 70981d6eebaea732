import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";

const CACHED_STATEMENTS = 500;

/** The wait for another process's write, in milliseconds. It is long because SQLite's lock is not fair. */
export const BUSY_MS = 15_000;

/**
 * Returns the parameters of a statement. Checks them, because node:sqlite takes an object in first place for named
 * parameters, and then stores NULL.
 */
export const checkParameters = (parameters: readonly unknown[]): readonly SQLInputValue[] => {
  // No iterator: statements of imports have thousands of parameters.
  for (let place = 0; place < parameters.length; place += 1) {
    const value = parameters[place];
    if (value === null || typeof value === "string" || typeof value === "number") continue;
    throw new TypeError(`a ${typeof value} cannot be stored`);
  }
  return parameters as readonly SQLInputValue[];
};

/** A statement that runs once for each list of parameters, and gives no rows. */
export type ManyRuns = CompiledQuery & { runs: readonly (readonly unknown[])[] };

const isManyRuns = (query: CompiledQuery): query is ManyRuns => "runs" in query;

type Prepared = { statement: StatementSync; givesRows: boolean };

/** A Kysely connection over one open database; statements are prepared once. */
export class Connection implements DatabaseConnection {
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

  execute<Row>(query: CompiledQuery): QueryResult<Row> {
    const { statement, givesRows } = this.#prepare(query.sql);
    if (isManyRuns(query)) {
      for (const parameters of query.runs) statement.run(...checkParameters(parameters));
      return { rows: [] };
    }
    const parameters = checkParameters(query.parameters);
    if (givesRows) return { rows: statement.all(...parameters) as Row[] };
    const { changes } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.execute(query);
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
