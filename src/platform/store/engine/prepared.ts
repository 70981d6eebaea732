import type { CompiledQuery, Compilable, QueryResult } from "kysely";
import type { Db } from "../port.ts";

/** A placeholder for a parameter while its query is compiled. */
class Hole {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/** Tells whether a query has exactly the parameters, in their order. */
const isInOrder = (values: readonly unknown[], count: number): boolean =>
  values.length === count &&
  values.every((value, index) => value instanceof Hole && value.index === index);

type Parameter = string | number | null;

type Build<P extends Parameter[], Row> = (db: Db, ...parameters: P) => Compilable<Row>;

const prepare = <P extends Parameter[], Row>(build: Build<P, Row>) => {
  // Per adapter, because the databases write their SQL differently.
  const compiled = new WeakMap<object, { query: CompiledQuery<Row>; inOrder: boolean }>();
  return (db: Db, parameters: P): Promise<QueryResult<Row>> => {
    const executor = db.getExecutor();
    let known = compiled.get(executor.adapter);
    if (known === undefined) {
      const holes = parameters.map((_, index) => new Hole(index)) as unknown as P;
      const query = build(db, ...holes).compile();
      known = { query, inOrder: isInOrder(query.parameters, parameters.length) };
      compiled.set(executor.adapter, known);
    }
    const { query, inOrder } = known;
    const values = inOrder
      ? parameters
      : query.parameters.map((value) => (value instanceof Hole ? parameters[value.index] : value));
    // `CompiledQuery.raw` would build a node and freeze four objects, and `db.executeQuery` add a promise.
    return executor.executeQuery<Row>({
      sql: query.sql,
      query: query.query,
      queryId: query.queryId,
      parameters: values,
    });
  };
};

/**
 * A query that is compiled once and run often: building one costs more than a point read.
 * `build` gets stand-ins for its parameters, so it must only pass them on.
 */
export const prepareQuery = <P extends Parameter[], Row>(build: Build<P, Row>) => {
  const run = prepare(build);
  return async (db: Db, ...parameters: P): Promise<Row[]> => (await run(db, parameters)).rows;
};

/** A {@link prepareQuery} that changes rows, and returns their number: `returning` costs as much as the change. */
export const prepareChange = <P extends Parameter[]>(build: Build<P, unknown>) => {
  const run = prepare(build);
  return async (db: Db, ...parameters: P): Promise<number> =>
    Number((await run(db, parameters)).numAffectedRows ?? 0n);
};

/** A {@link prepareQuery} of which only the first row counts; undefined where there is none. */
export const prepareFind = <P extends Parameter[], Row>(build: Build<P, Row>) => {
  const query = prepareQuery(build);
  return async (db: Db, ...parameters: P): Promise<Row | undefined> =>
    (await query(db, ...parameters))[0];
};
