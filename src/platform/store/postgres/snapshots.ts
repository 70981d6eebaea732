import { Kysely, type PostgresCursorConstructor } from "kysely";
import type pg from "pg";
import Cursor from "pg-cursor";
import { createViewTurns, type Turns } from "../engine/turns.ts";
import { guard, guardDialect } from "../engine/guard.ts";
import {
  type Db,
  type PoolUse,
  type Snapshot,
  type SnapshotOptions,
  StoreUnavailable,
  ViewExpired,
} from "../port.ts";
import { streamRows } from "../engine/stream-rows.ts";
import type { Tables } from "../tables/schema.ts";
import { createViewDialect } from "./dialect.ts";
import { isPostgresOutage } from "./outage.ts";

// Time limit of one statement of a view, which reads one batch of a cursor.
const STATEMENT_MS = 60_000;

// In the transaction, because PgBouncer passes neither startup parameters nor the state of a session on.
const BEGIN = `begin isolation level repeatable read read only; set local statement_timeout = ${STATEMENT_MS}`;

// Groups of a million payments in memory; compiling the query would take longer than it saves.
const AGGREGATING = "; set local work_mem = '32MB'; set local jit = off";

/** A connection with an open view, until it returns to the pool or is closed. */
class Lease {
  readonly #client: pg.PoolClient;
  readonly #ending = Promise.withResolvers<void>();
  /** Resolves when the lease or its connection has ended. */
  readonly ended = this.#ending.promise;
  isOpen = true;

  constructor(client: pg.PoolClient) {
    this.#client = client;
    client.once("end", this.#ending.resolve);
  }

  run(statement: string): Promise<unknown> {
    return guard(isPostgresOutage, () => this.#client.query(statement));
  }

  /** Runs a query or cursor of Kysely's. */
  query = (...args: [never]): unknown => {
    if (!this.isOpen) throw new ViewExpired();
    return this.#client.query(...args);
  };

  /** `broken` closes the connection instead of giving it back. */
  release(broken: boolean): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#client.off("end", this.#ending.resolve);
    this.#ending.resolve();
    this.#client.release(broken);
  }
}

/** Cursors of a lease. Closing one does not wait for the reply of a connection that is lost. */
const createCursorClass = ({ ended }: Lease): PostgresCursorConstructor =>
  class LeaseCursor extends Cursor {
    override close(): never {
      return Promise.race([super.close(), ended]) as never;
    }
  };

const createDb = (lease: Lease): Db => {
  const pool = {
    connect: async () => ({ query: lease.query, release() {} }),
    end: async () => {},
    options: {},
  };
  const dialect = createViewDialect(pool as never, createCursorClass(lease));
  return new Kysely<Tables>({ dialect: guardDialect(dialect, isPostgresOutage) });
};

/** Yields the rows; throws ViewExpired in place of the error of a lost connection when the lease has ended. */
async function* readUntilExpired<Row>(
  lease: Lease,
  rows: AsyncIterable<Row>,
): AsyncGenerator<Row, void, undefined> {
  try {
    yield* rows;
  } catch (error) {
    throw lease.isOpen ? error : new ViewExpired();
  }
}

const begin = async (pool: pg.Pool, aggregates: boolean): Promise<Lease> => {
  const lease = new Lease(await guard(isPostgresOutage, () => pool.connect()));
  await lease.run(aggregates ? BEGIN + AGGREGATING : BEGIN).catch((error: unknown) => {
    lease.release(true);
    throw error;
  });
  return lease;
};

/** Opens views of a PostgreSQL database on the connections of a separate pool. */
export class PostgresSnapshots {
  readonly #turns: Turns;
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#turns = createViewTurns(pool.options.max);
  }

  async open({ owner, signal, maxMs, aggregates = false }: SnapshotOptions): Promise<Snapshot> {
    const leave = await this.#turns.enter(owner, signal);
    const lease = await begin(this.#pool, aggregates).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) this.#turns.refuseAll(error);
      leave();
      throw error;
    });
    const finish = (broken: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", expire);
      lease.release(broken);
      leave();
    };
    // The connection may have an open cursor. Closing the connection makes the server end both cursor and view.
    const expire = (): void => finish(true);
    const timer = maxMs === undefined ? undefined : setTimeout(expire, maxMs).unref();
    signal?.addEventListener("abort", expire);
    // It may have been aborted while this view waited.
    if (signal?.aborted === true) expire();
    const end = async (): Promise<void> => {
      if (!lease.isOpen) return;
      // The view is read-only, so a failed commit loses the connection and no data.
      await lease.run("commit").then(
        () => finish(false),
        () => finish(true),
      );
    };
    let closed: Promise<void> | undefined;
    const close = (): Promise<void> => (closed ??= end());
    const db = createDb(lease);
    const stream: Snapshot["stream"] = (query) => readUntilExpired(lease, streamRows(db, query));
    return { db, stream, close, [Symbol.asyncDispose]: close };
  }

  use(): PoolUse {
    return this.#turns.use();
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
