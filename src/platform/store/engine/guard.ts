import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";
import { isTracing, traced } from "../../../kit/tracing.ts";
import { StoreUnavailable } from "../port.ts";

/** Tells whether an error means that the database is unavailable, and not that the query is wrong. */
export type IsOutage = (error: unknown) => boolean;

const toStoreError = (isOutage: IsOutage, error: unknown): unknown =>
  isOutage(error) ? new StoreUnavailable(error) : error;

/** Runs `act`. @throws {StoreUnavailable} instead of an outage's error */
export const guard = async <T>(isOutage: IsOutage, act: () => T | Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw toStoreError(isOutage, error);
  }
};

const MOST_CHARACTERS = 2000;

/** Returns the verb and the first table of a statement. */
const summarize = (sql: string): string => {
  const [, verb = "SQL"] = /^\s*(\w+)/.exec(sql) ?? [];
  const [, table = ""] = /\b(?:from|into|update)\s+"?(\w+)"?/i.exec(sql) ?? [];
  return `${verb.toUpperCase()} ${table}`.trimEnd();
};

/** Runs a query within a span. Its text has placeholders, no values. */
const traceQuery = <T>({ sql }: CompiledQuery, act: () => Promise<T>): Promise<T> =>
  traced(
    () => summarize(sql),
    () => ({
      kind: "client",
      attributes: { "db.query.text": sql.slice(0, MOST_CHARACTERS) },
      onlyInside: true,
    }),
    act,
  );

/** A connection whose outages throw StoreUnavailable, and whose queries have spans. */
export class GuardedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #isOutage: IsOutage;

  constructor(inner: DatabaseConnection, isOutage: IsOutage) {
    this.inner = inner;
    this.#isOutage = isOutage;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return isTracing()
      ? traceQuery(query, () => this.#execute<Row>(query))
      : this.#execute<Row>(query);
  }

  async #execute<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      return await this.inner.executeQuery<Row>(query);
    } catch (error) {
      throw toStoreError(this.#isOutage, error);
    }
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const rows = this.inner.streamQuery<Row>(query, chunkSize);
    const fetch = () => guard(this.#isOutage, () => rows.next());
    // Only the first batch: the reader decides when it takes the others.
    let next = () => traceQuery(query, fetch);
    try {
      for (;;) {
        const { done, value } = await next();
        next = fetch;
        if (done === true) return;
        yield value;
      }
    } finally {
      await rows.return?.();
    }
  }
}

/** Wraps a driver so that an outage in any step of a query or transaction throws StoreUnavailable. */
export const guardDriver = (driver: Driver, isOutage: IsOutage): Driver => {
  const on =
    <Rest extends unknown[]>(
      act: (connection: DatabaseConnection, ...rest: Rest) => Promise<void>,
    ) =>
    (connection: DatabaseConnection, ...rest: Rest): Promise<void> =>
      guard(isOutage, () => act((connection as GuardedConnection).inner, ...rest));
  return {
    init: () => driver.init(),
    acquireConnection: () =>
      guard(
        isOutage,
        async () => new GuardedConnection(await driver.acquireConnection(), isOutage),
      ),
    beginTransaction: on((connection, settings) => driver.beginTransaction(connection, settings)),
    commitTransaction: on((connection) => driver.commitTransaction(connection)),
    rollbackTransaction: on((connection) => driver.rollbackTransaction(connection)),
    releaseConnection: on((connection) => driver.releaseConnection(connection)),
    destroy: () => driver.destroy(),
  };
};

/** Wraps a dialect so that an outage in any step of a query or transaction throws StoreUnavailable. */
export const guardDialect = (dialect: Dialect, isOutage: IsOutage): Dialect => ({
  createDriver: () => guardDriver(dialect.createDriver(), isOutage),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createAdapter: () => dialect.createAdapter(),
  createIntrospector: (db) => dialect.createIntrospector(db),
});
