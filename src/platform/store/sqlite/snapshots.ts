import { availableParallelism } from "node:os";
import type { DatabaseSync, StatementSync } from "node:sqlite";
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

/** How often a view is begun in two threads; if a commit comes between them each time, one thread reads it. */
const MOST_TRIES = 5;

const toStatement = ({ sql, parameters }: CompiledQuery): Statement => ({
  sql,
  parameters: checkParameters(parameters),
});

/** The part of a view that one reader thread has: a session with an open transaction. */
class Part {
  readonly #owner: string;
  readonly #reader: Reader;
  readonly #session: Session;
  #hasEnded = false;
  /** The number of requests without a reply. */
  pending = 0;

  constructor(owner: string, reader: Reader) {
    this.#owner = owner;
    this.#reader = reader;
    this.#session = reader.acquire();
  }

  async ask(request: ReaderRequest): Promise<unknown[]> {
    if (this.#hasEnded) throw new ViewExpired();
    this.pending += 1;
    try {
      return await this.#reader.ask(this.#owner, this.#session, request);
    } finally {
      this.pending -= 1;
    }
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

type Parts = [Part, ...Part[]];

/** A Kysely connection to a view: each query is a request to the thread with the fewest. */
class ViewConnection implements DatabaseConnection {
  readonly #parts: Readonly<Parts>;
  /** Each of its threads has one cursor for it. */
  #isStreaming = false;

  constructor(parts: Readonly<Parts>) {
    this.#parts = parts;
  }

  #leastUsed(): Part {
    return this.#parts.reduce((least, part) => (part.pending < least.pending ? part : least));
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = toStatement(query);
    const rows = await this.#leastUsed().ask({ act: "execute", statement });
    return { rows: rows as Row[] };
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    const [part] = this.#parts;
    const fetch = (): Promise<unknown[]> => {
      const rows = part.ask({ act: "fetch", rows: chunkSize });
      // Awaited later, or never when the reader of the rows stops.
      rows.catch(() => {});
      return rows;
    };
    if (this.#isStreaming) throw new Error("a view streams the rows of one query at a time");
    this.#isStreaming = true;
    try {
      await part.ask({ act: "open", statement: toStatement(query) });
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
      await part.ask({ act: "closeCursor" }).catch(() => {});
      this.#isStreaming = false;
    }
  }
}

const createKysely = (parts: Readonly<Parts>): Db => {
  const dialect = createSqliteDialect(() => createReadingDriver(new ViewConnection(parts)));
  return new Kysely<Tables>({ dialect: guardDialect(dialect, isSqliteOutage) });
};

type Use = Pick<SnapshotOptions, "aggregates" | "parallel">;

/** Opens views of one SQLite file, which are read in threads. */
export class SqliteSnapshots {
  readonly #turns = createViewTurns();
  readonly #readers: readonly Reader[];
  // Only for parallel views: with it, the threads of other views would leave no core for the event loop. With one
  // thread, an export run takes twice as long (`snapshot` of the benchmarks: 2.3 in place of 1.2 times its base).
  readonly #second: Reader;
  // One query of it may take seconds, in which its thread reads nothing else.
  readonly #aggregator: Reader;
  readonly #version: StatementSync;

  /** `database` is an open connection that never writes. */
  constructor(path: string, database: DatabaseSync) {
    this.#aggregator = new Reader(path, BUSY_MS);
    this.#readers = Array.from({ length: countReaders() }, () => new Reader(path, BUSY_MS));
    this.#second = new Reader(path, BUSY_MS);
    // It counts the commits of all other connections, in this process and in others.
    this.#version = database.prepare("pragma data_version");
  }

  async open({ owner, signal, maxMs, ...use }: SnapshotOptions): Promise<Snapshot> {
    const leave = await this.#turns.enter(owner, signal);
    const [first, ...others] = this.#chooseReaders(use).map((reader) => new Part(owner, reader));
    if (first === undefined) throw new Error("the store has no reader thread");
    const parts: Parts = [first, ...others];
    let closed: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", expire);
      await Promise.all(parts.map((part) => part.end()));
      leave();
    };
    const close = (): Promise<void> => (closed ??= end());
    const expire = (): void => void close();
    const timer = maxMs === undefined ? undefined : setTimeout(expire, maxMs).unref();
    signal?.addEventListener("abort", expire);
    // It may have been aborted while this view waited.
    if (signal?.aborted === true) expire();
    await guard(isSqliteOutage, () => this.#begin(parts)).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    const db = createKysely(parts);
    const stream: Snapshot["stream"] = (query) => streamRows(db, query);
    return { db, stream, close, [Symbol.asyncDispose]: close };
  }

  use(): PoolUse {
    return this.#turns.use();
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#readers, this.#second, this.#aggregator].map((reader) => reader.close()),
    );
  }

  /** Begins the parts of a view while nothing is committed, so that all show the same; otherwise only one is left. */
  async #begin(parts: Parts): Promise<void> {
    const askAll = (act: "begin" | "end") => Promise.all(parts.map((part) => part.ask({ act })));
    for (let tries = 0; parts.length > 1 && tries < MOST_TRIES; tries += 1) {
      const before = this.#readVersion();
      await askAll("begin");
      if (this.#readVersion() === before) return;
      await askAll("end");
    }
    await Promise.all(parts.splice(1).map((part) => part.end()));
    await askAll("begin");
  }

  #readVersion(): unknown {
    return this.#version.get()?.["data_version"];
  }

  #chooseReaders({ aggregates = false, parallel = false }: Use): Reader[] {
    if (aggregates) return [this.#aggregator];
    const [leastUsed] = this.#readers.toSorted((a, b) => a.inUse - b.inUse);
    return [leastUsed, parallel ? this.#second : undefined].filter((one) => one !== undefined);
  }
}
