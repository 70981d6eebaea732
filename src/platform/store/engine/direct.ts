import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  Kysely,
  type KyselyProps,
  type QueryResult,
  Transaction,
} from "kysely";
import { GuardedConnection, guardDriver, type IsOutage } from "./guard.ts";
import type { Db } from "../port.ts";
import type { Tables } from "../tables/schema.ts";

type Options = Parameters<DefaultQueryExecutor["executeQuery"]>[1];

/** Runs queries on a connection that need not be acquired: Kysely's way to one takes longer than a point read. */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection, { compiler, adapter }: Parts) {
    super(compiler, adapter, { provideConnection: (consumer) => consumer(connection) });
    this.#connection = connection;
  }

  override executeQuery<R>(query: CompiledQuery, options?: Options): Promise<QueryResult<R>> {
    // Kysely itself ends a query by a signal.
    return options === undefined
      ? this.#connection.executeQuery<R>(query)
      : super.executeQuery(query, options);
  }
}

type Parts = {
  compiler: ReturnType<Dialect["createQueryCompiler"]>;
  adapter: ReturnType<Dialect["createAdapter"]>;
};

type Direct = {
  /** Reads and writes on a connection that needs no turn. */
  on(connection: DatabaseConnection): Db;
  transaction<T>(act: (tx: Db) => Promise<T>): Promise<T>;
};

/**
 * Creates databases whose queries run at once on their connection. Only for a dialect that runs a query within the
 * call: the queries of one transaction do not wait for each other.
 */
export const createDirect = (dialect: Dialect, isOutage: IsOutage): Direct => {
  const driver = guardDriver(dialect.createDriver(), isOutage);
  const parts = { compiler: dialect.createQueryCompiler(), adapter: dialect.createAdapter() };
  const propsFor = (connection: DatabaseConnection): KyselyProps => ({
    config: { dialect },
    dialect,
    driver,
    executor: new DirectExecutor(connection, parts),
  });
  return {
    on: (connection) => new Kysely<Tables>(propsFor(new GuardedConnection(connection, isOutage))),
    async transaction(act) {
      const connection = await driver.acquireConnection();
      try {
        await driver.beginTransaction(connection, {});
        try {
          const result = await act(new Transaction<Tables>(propsFor(connection)));
          await driver.commitTransaction(connection);
          return result;
        } catch (error) {
          await driver.rollbackTransaction(connection);
          throw error;
        }
      } finally {
        await driver.releaseConnection(connection);
      }
    },
  };
};
