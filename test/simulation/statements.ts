import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult } from "kysely";
import type { Db, Store } from "../../src/platform/store/port.ts";
import type { Tables } from "../../src/platform/store/tables/schema.ts";

type Row = Record<string, unknown>;
type Result = QueryResult<Row>;
type Run = (statement: CompiledQuery) => Promise<Result>;

/** Runs a statement, or something else instead of it. */
export type Around = (statement: CompiledQuery, run: Run) => Promise<Result>;

/** Returns a store that differs from the given one. */
export type WrapStore = (store: Store) => Store;

const nothing = async (): Promise<void> => {};

/** Returns the same database, whose statements run within `around`. */
const wrapDatabase = (db: Db, around: Around): Db => {
  const executor = db.getExecutor();
  const connection: DatabaseConnection = {
    executeQuery: async <R>(statement: CompiledQuery) =>
      (await around(statement, (one) => executor.executeQuery<Row>(one))) as QueryResult<R>,
    streamQuery: <R>(statement: CompiledQuery, size?: number) =>
      executor.stream<R>(statement, size ?? 1),
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => executor.adapter,
      createQueryCompiler: () => ({ compileQuery: (node, id) => executor.compileQuery(node, id) }),
      createIntrospector: () => db.introspection,
      createDriver: () => ({
        init: nothing,
        destroy: nothing,
        acquireConnection: async () => connection,
        releaseConnection: nothing,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
      }),
    },
  });
};

/** Wraps the statements of a store, except those of long reads. */
export const wrapStatements =
  (around: Around): WrapStore =>
  (store) => ({
    ...store,
    read: wrapDatabase(store.read, around),
    counting: wrapDatabase(store.counting, around),
    transaction: (act, queue) => store.transaction((tx) => act(wrapDatabase(tx, around)), queue),
    append: (act) => store.append((tx) => act(wrapDatabase(tx, around))),
  });

/** Replaces a part of the SQL of the statements that match. The number of parameters must stay the same. */
export const rewriteStatements = (of: RegExp, part: RegExp, by: string): WrapStore =>
  wrapStatements((statement, run) =>
    run(
      of.test(statement.sql) ? { ...statement, sql: statement.sql.replace(part, by) } : statement,
    ),
  );

/** Changes the rows that statements return. */
export const changeRows = (
  of: RegExp,
  change: (row: Row, parameters: readonly unknown[]) => Row,
): WrapStore =>
  wrapStatements(async (statement, run) => {
    const result = await run(statement);
    if (!of.test(statement.sql)) return result;
    return { ...result, rows: result.rows.map((row) => change(row, statement.parameters)) };
  });

type IsMeant = (statement: CompiledQuery) => boolean;

const SKIPPED: Result = { rows: [], numAffectedRows: 1n };

/** Leaves statements out, as if each had changed one row. */
export const skipStatements = (isSkipped: IsMeant): WrapStore =>
  wrapStatements(async (statement, run) => (isSkipped(statement) ? SKIPPED : run(statement)));

/** Runs statements in a transaction of their own, after the one that they belong to. */
export const delayStatements =
  (isDelayed: IsMeant): WrapStore =>
  (store) => ({
    ...store,
    async transaction(act, queue) {
      const delayed: CompiledQuery[] = [];
      const around: Around = async (statement, run) => {
        if (!isDelayed(statement)) return run(statement);
        delayed.push(statement);
        return SKIPPED;
      };
      const result = await store.transaction((tx) => act(wrapDatabase(tx, around)), queue);
      if (delayed.length === 0) return result;
      await store.transaction(async (tx) => {
        for (const statement of delayed) await tx.executeQuery(statement);
      }, queue);
      return result;
    },
  });
