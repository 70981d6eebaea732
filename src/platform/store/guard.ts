import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from "kysely";
import { StoreUnavailable } from "./port.ts";

/** Whether a database's error says that it cannot serve now, rather than that it was asked wrongly. */
export type IsOutage = (error: unknown) => boolean;

/** Runs what uses the database; an outage becomes a StoreUnavailable. */
export const guarded = async <T>(isOutage: IsOutage, act: () => T | Promise<T>): Promise<T> => {
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
    return guarded(this.#isOutage, () => this.inner.executeQuery<Row>(query));
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const rows = this.inner.streamQuery<Row>(query, chunkSize);
    try {
      for (;;) {
        const { done, value } = await guarded(this.#isOutage, () => rows.next());
        if (done === true) return;
        yield value;
      }
    } finally {
      await rows.return?.();
    }
  }
}

const guardedDriver = (driver: Driver, isOutage: IsOutage): Driver => {
  const on =
    <Rest extends unknown[]>(
      act: (connection: DatabaseConnection, ...rest: Rest) => Promise<void>,
    ) =>
    (connection: DatabaseConnection, ...rest: Rest): Promise<void> =>
      guarded(isOutage, () => act((connection as GuardedConnection).inner, ...rest));
  return {
    init: () => driver.init(),
    acquireConnection: () =>
      guarded(
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

/** A dialect whose outages are StoreUnavailable, whatever step of a query or transaction they meet. */
export const guardedDialect = (dialect: Dialect, isOutage: IsOutage): Dialect => ({
  createDriver: () => guardedDriver(dialect.createDriver(), isOutage),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createAdapter: () => dialect.createAdapter(),
  createIntrospector: (db) => dialect.createIntrospector(db),
});
