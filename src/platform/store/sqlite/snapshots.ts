import { availableParallelism } from "node:os";
import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult } from "kysely";
import { createViewTurns } from "../engine/turns.ts";
import { guard, guardDialect } from "../engine/guard.ts";
import {
  type Db,
  type PoolUse,
  type Snapshot,
  type SnapshotOptions,
  ViewExpired,
} from "../port.ts";
import { streamRows } from "../engine/stream-rows.ts";
import type { Tables } from "../tables/schema.ts";
import { BUSY_MS, checkParameters } from "../../../kit/sqlite/driver/connection.ts";
import { createReadingDriver } from "../../../kit/sqlite/dialect.ts";
import { isSqliteOutage } from "../../../kit/sqlite/outage.ts";
import { createSqliteDialect } from "./dialect.ts";
import type { ReaderRequest, Statement } from "./reader/messages.ts";
import { Reader, type Session } from "./reader/reader.ts";

const MOST_READERS = 4;
// One core stays for the event loop.
const countReaders = (): number => Math.max(1, Math.min(MOST_READERS, availableParallelism() - 1));

const toStatement = ({ sql, parameters }: CompiledQuery): Statement => ({
  sql,
  parameters: checkParameters(parameters),
});

/** A session of a reader thread with an open transaction. */
class ViewSession {
  readonly #owner: string;
  readonly #reader: Reader;
  readonly #session: Session;
  #hasEnded = false;

  constructor(owner: string, reader: Reader) {
    this.#owner = owner;
    this.#reader = reader;
    this.#session = reader.acquire();
  }

  async ask(request: ReaderRequest): Promise<unknown[]> {
    if (this.#hasEnded) throw new ViewExpired();
    return this.#reader.ask(this.#owner, this.#session, request);
  }

  async end(): Promise<void> {
    if (this.#hasEnded) return;
    // When a thread ends, its views are released.
    const ended = this.ask({ act: "end" }).catch(() => {});
    this.#hasEnded = true;
    await ended;
    this.#reader.release(this.#session);
  }
}

/** A Kysely connection to a view: each query is a request to its thread. */
class ViewConnection implements DatabaseConnection {
  readonly #session: ViewSession;
  /** Its thread has one cursor for it. */
  #isStreaming = false;

  constructor(session: ViewSession) {
    this.#session = session;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = toStatement(query);
    const rows = await this.#session.ask({ act: "execute", statement });
    return { rows: rows as Row[] };
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const session = this.#session;
    const fetch = (): Promise<unknown[]> => {
      const rows = session.ask({ act: "fetch", rows: chunkSize });
      // Awaited later, or never when the reader of the rows stops.
      rows.catch(() => {});
      return rows;
    };
    if (this.#isStreaming) throw new Error("a view streams the rows of one query at a time");
    this.#isStreaming = true;
    try {
      await session.ask({ act: "open", statement: toStatement(query) });
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
      await session.ask({ act: "closeCursor" }).catch(() => {});
      this.#isStreaming = false;
    }
  }
}

const createKysely = (session: ViewSession): Db => {
  const dialect = createSqliteDialect(() => createReadingDriver(new ViewConnection(session)));
  return new Kysely<Tables>({ dialect: guardDialect(dialect, isSqliteOutage) });
};

/** Opens views of one SQLite file, which are read in threads. */
export class SqliteSnapshots {
  readonly #turns = createViewTurns();
  readonly #readers: readonly Reader[];
  // One query of it may take seconds, in which its thread reads nothing else.
  readonly #aggregator: Reader;

  constructor(path: string) {
    this.#aggregator = new Reader(path, BUSY_MS);
    this.#readers = Array.from({ length: countReaders() }, () => new Reader(path, BUSY_MS));
  }

  async open({ owner, signal, maxMs, aggregates }: SnapshotOptions): Promise<Snapshot> {
    const leave = await this.#turns.enter(owner, signal);
    const session = new ViewSession(owner, this.#chooseReader(aggregates));
    let closed: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", expire);
      await session.end();
      leave();
    };
    const close = (): Promise<void> => (closed ??= end());
    const expire = (): void => void close();
    const timer = maxMs === undefined ? undefined : setTimeout(expire, maxMs).unref();
    signal?.addEventListener("abort", expire);
    // It may have been aborted while this view waited.
    if (signal?.aborted === true) expire();
    await guard(isSqliteOutage, () => session.ask({ act: "begin" })).catch(
      async (error: unknown) => {
        await close();
        throw error;
      },
    );
    const db = createKysely(session);
    const stream: Snapshot["stream"] = (query) => streamRows(db, query);
    return { db, stream, close, [Symbol.asyncDispose]: close };
  }

  use(): PoolUse {
    return this.#turns.use();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#readers, this.#aggregator].map((reader) => reader.close()));
  }

  #chooseReader(aggregates = false): Reader {
    const [leastUsed = this.#aggregator] = this.#readers.toSorted((a, b) => a.inUse - b.inUse);
    return aggregates ? this.#aggregator : leastUsed;
  }
}
