import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import Cursor from "pg-cursor";
import { FairLimiter, VIEWS } from "../fair-limiter.ts";
import { guarded, guardedDialect } from "../guard.ts";
import { type Db, type Snapshot, type SnapshotOptions, ViewExpired } from "../port.ts";
import { streamRows } from "../stream-rows.ts";
import type { Tables } from "../tables.ts";
import { isPostgresOutage } from "./outage.ts";

/** A connection with an open view, until it is given back or closed. */
class Lease {
  readonly #client: pg.PoolClient;
  readonly #lost: Promise<void>;
  #lose = (): void => {};
  isOpen = true;

  constructor(client: pg.PoolClient) {
    this.#client = client;
    this.#lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    client.once("end", this.#lose);
  }

  run(statement: string): Promise<unknown> {
    return guarded(isPostgresOutage, () => this.#client.query(statement));
  }

  /** A cursor that closes does not wait for the answer of a lost connection. */
  query = (...asked: [never]): unknown => {
    if (!this.isOpen) throw new ViewExpired();
    const result: unknown = this.#client.query(...asked);
    if (!(result instanceof Cursor)) return result;
    const close = () => Cursor.prototype.close.call(result);
    result.close = (() => Promise.race([close(), this.#lost])) as typeof result.close;
    return result;
  };

  /** `broken` closes the connection instead of giving it back. */
  release(broken: boolean): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#client.off("end", this.#lose);
    this.#lose();
    this.#client.release(broken);
  }
}

const kyselyOver = ({ query }: Lease): Db =>
  new Kysely<Tables>({
    dialect: guardedDialect(
      new PostgresDialect({
        pool: { connect: async () => ({ query, release() {} }), end: async () => {} } as never,
        cursor: Cursor,
      }),
      isPostgresOutage,
    ),
  });

/** The rows; where the lease ended meanwhile, that is the error and not the lost connection. */
async function* unlessExpired<Row>(
  lease: Lease,
  rows: AsyncIterable<Row>,
): AsyncGenerator<Row, void, undefined> {
  try {
    yield* rows;
  } catch (error) {
    throw lease.isOpen ? error : new ViewExpired();
  }
}

const begin = async (pool: pg.Pool): Promise<Lease> => {
  const lease = new Lease(await guarded(isPostgresOutage, () => pool.connect()));
  await lease.run("begin isolation level repeatable read read only").catch((error: unknown) => {
    lease.release(true);
    throw error;
  });
  return lease;
};

/** Views of one PostgreSQL database, on the connections of their own pool. */
export class PostgresSnapshots {
  readonly #limiter: FairLimiter;
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#limiter = new FairLimiter({ ...VIEWS, total: pool.options.max });
  }

  async open({ owner, signal, maxMs }: SnapshotOptions): Promise<Snapshot> {
    const leave = await this.#limiter.enter(owner, signal);
    const lease = await begin(this.#pool).catch((error: unknown) => {
      leave();
      throw error;
    });
    const finish = (broken: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", expire);
      lease.release(broken);
      leave();
    };
    // A cursor may be open on the connection, so it is closed: the server then ends query and view.
    const expire = (): void => finish(true);
    const timer = maxMs === undefined ? undefined : setTimeout(expire, maxMs).unref();
    signal?.addEventListener("abort", expire);
    const close = async (): Promise<void> => {
      if (!lease.isOpen) return;
      // Nothing was written: where this fails, only the connection is lost.
      await lease.run("commit").then(
        () => finish(false),
        () => finish(true),
      );
    };
    let closed: Promise<void> | undefined;
    const db = kyselyOver(lease);
    return {
      db,
      stream: (query) => unlessExpired(lease, streamRows(db, query)),
      close: () => (closed ??= close()),
    };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
