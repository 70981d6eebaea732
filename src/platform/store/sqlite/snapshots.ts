import { availableParallelism } from "node:os";
import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult } from "kysely";
import { FairLimiter, VIEWS } from "../fair-limiter.ts";
import { guardDialect } from "../guard.ts";
import {
  type Db,
  type PoolUse,
  type Snapshot,
  type SnapshotOptions,
  ViewExpired,
} from "../port.ts";
import { streamRows } from "../stream-rows.ts";
import type { Tables } from "../tables.ts";
import { checkParameters } from "../../../kit/sqlite/driver/connection.ts";
import { BUSY_MS, createReadingDriver } from "../../../kit/sqlite/dialect.ts";
import { isSqliteOutage } from "../../../kit/sqlite/outage.ts";
import { createSqliteDialect } from "./dialect.ts";
import type { ReaderRequest, Statement } from "./reader/messages.ts";
import { Reader } from "./reader/reader.ts";

const MOST_READERS = 4;
// One core stays for the event loop.
const countReaders = (): number => Math.max(1, Math.min(MOST_READERS, availableParallelism() - 1));

type Ask = (request: ReaderRequest) => Promise<unknown[]>;

const toStatement = ({ sql, parameters }: CompiledQuery): Statement => ({
  sql,
  parameters: checkParameters(parameters),
});

/** A Kysely connection to a session: each query is a request to its reader thread. */
class SessionConnection implements DatabaseConnection {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const rows = await this.#ask({ act: "execute", statement: toStatement(query) });
    return { rows: rows as Row[] };
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const fetch = (): Promise<unknown[]> => {
      const rows = this.#ask({ act: "fetch", rows: chunkSize });
      // Awaited later, or never when the reader of the rows stops.
      rows.catch(() => {});
      return rows;
    };
    await this.#ask({ act: "open", statement: toStatement(query) });
    try {
      let next = fetch();
      for (;;) {
        const rows = (await next) as Row[];
        const isLast = rows.length < chunkSize;
        // The thread reads the next batch while this one is used.
        if (!isLast) next = fetch();
        if (rows.length > 0) yield { rows };
        if (isLast) return;
      }
    } finally {
      // The cursor of an expired view is closed already.
      await this.#ask({ act: "closeCursor" }).catch(() => {});
    }
  }
}

const createKysely = (ask: Ask): Db => {
  const dialect = createSqliteDialect(() => createReadingDriver(new SessionConnection(ask)));
  return new Kysely<Tables>({ dialect: guardDialect(dialect, isSqliteOutage) });
};

/** Opens views of one SQLite file, which are read in threads. */
export class SqliteSnapshots {
  readonly #limiter = new FairLimiter(VIEWS);
  readonly #readers: readonly Reader[];
  // One query of it may take seconds, in which its thread reads nothing else.
  readonly #aggregator: Reader;

  constructor(path: string) {
    this.#aggregator = new Reader(path, BUSY_MS);
    this.#readers = Array.from({ length: countReaders() }, () => new Reader(path, BUSY_MS));
  }

  async open({ owner, signal, maxMs, aggregates = false }: SnapshotOptions): Promise<Snapshot> {
    const leave = await this.#limiter.enter(owner, signal);
    const reader = aggregates ? this.#aggregator : this.#leastUsed();
    const session = reader.acquire();
    let closed: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", expire);
      // When a thread ends, its views are released.
      await reader.ask(owner, session, { act: "end" }).catch(() => {});
      reader.release(session);
      leave();
    };
    const close = (): Promise<void> => (closed ??= end());
    const expire = (): void => void close();
    const timer = maxMs === undefined ? undefined : setTimeout(expire, maxMs).unref();
    signal?.addEventListener("abort", expire);
    const ask: Ask = (request) =>
      closed === undefined
        ? reader.ask(owner, session, request)
        : Promise.reject(new ViewExpired());
    const db = createKysely(ask);
    await ask({ act: "begin" }).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    const stream: Snapshot["stream"] = (query) => streamRows(db, query);
    return { db, stream, close, [Symbol.asyncDispose]: close };
  }

  use(): PoolUse {
    return this.#limiter.use("views");
  }

  async close(): Promise<void> {
    await Promise.all([...this.#readers, this.#aggregator].map((reader) => reader.close()));
  }

  #leastUsed(): Reader {
    const [reader] = this.#readers.toSorted((a, b) => a.inUse - b.inUse);
    if (reader === undefined) throw new Error("the store has no reader thread");
    return reader;
  }
}
