import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";
import { StoreUnavailable } from "./port.ts";

/** Tells whether an error means that the database is unavailable, and not that the query is wrong. */
export type IsOutage = (error: unknown) => boolean;

/** Runs `act`. @throws {StoreUnavailable} instead of an outage's error */
export const guard = async <T>(isOutage: IsOutage, act: () => T | Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw isOutage(error) ? new StoreUnavailable(error) : error;
  }
};

class GuardedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #isOutage: IsOutage;

  constructor(inner: DatabaseConnection, isOutage: IsOutage) {
    this.inner = inner;
    this.#isOutage = isOutage;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return guard(this.#isOutage, () => this.inner.executeQuery<Row>(query));
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const rows = this.inner.streamQuery<Row>(query, chunkSize);
    try {
      for (;;) {
        const { done, value } = await guard(this.#isOutage, () => rows.next());
        if (done === true) return;
        yield value;
      }
    } finally {
      await rows.return?.();
    }
  }
}

const guardDriver = (driver: Driver, isOutage: IsOutage): Driver => {
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
