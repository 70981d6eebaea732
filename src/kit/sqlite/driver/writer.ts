import { setTimeout } from "node:timers/promises";
import type { DatabaseSync } from "node:sqlite";
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import { Connection } from "./connection.ts";
import { isSqliteBusy } from "../outage.ts";

const RETRY_MS = 5;

/** Gives the connection to one transaction at a time, in the order of the requests. */
class Queue {
  #tail: Promise<void> = Promise.resolve();

  async enter(): Promise<() => void> {
    const before = this.#tail;
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    this.#tail = promise;
    await before;
    return leave;
  }
}

/** Transactions that one commit writes to disk. */
class Group {
  readonly #settled = Promise.withResolvers<void>();
  readonly committed = this.#settled.promise;
  readonly settle = this.#settled.resolve;
  readonly refuse = this.#settled.reject;
  /** Whether the transaction that runs now is the last one. */
  isDue = false;

  constructor() {
    // Every one of its transactions may have failed before.
    this.committed.catch(() => {});
  }
}

type Run<T> = (connection: Connection) => T;

/** The turn of one transaction at the connection. */
class Turn implements DatabaseConnection {
  readonly leave: () => void;
  readonly #use: <T>(turn: Turn, run: Run<T>) => T;
  /** The waits of the driver before the transaction asked for its turn. */
  readonly waitsBefore: number;
  /** Set while the transaction runs. */
  group: Group | undefined;
  isOver = false;

  constructor(leave: () => void, use: <T>(turn: Turn, run: Run<T>) => T, waitsBefore: number) {
    this.leave = leave;
    this.#use = use;
    this.waitsBefore = waitsBefore;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#use(this, (connection) => connection.execute<Row>(query));
  }

  streamQuery<Row>(query: CompiledQuery, size: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#use(this, (connection) => connection.streamQuery<Row>(query, size));
  }
}

/**
 * Gives the connection to one transaction at a time. Those that end within one turn of the event loop are committed
 * together, because waiting for the disk costs more than most of them: committed one by one, documents that eight
 * callers put at once take 1.6 to 1.9 times as long (`put-8` of the benchmarks). Each is undone alone, and none has an
 * answer before the commit. A transaction that takes longer delays those before it in its turn, and none after it.
 */
export class WritingDriver implements Driver {
  readonly #connection: Connection;
  readonly #database: DatabaseSync;
  readonly #queue = new Queue();
  readonly #retryMs: number;
  /** How often a transaction has waited for another process, each time for `RETRY_MS`. */
  #waits = 0;
  #group: Group | undefined;
  #running: Turn | undefined;

  constructor(database: DatabaseSync, retryMs: number) {
    this.#database = database;
    this.#connection = new Connection(database);
    this.#retryMs = retryMs;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Turn> {
    const waitsBefore = this.#waits;
    const leave = await this.#queue.enter();
    return new Turn(leave, (turn, run) => this.#run(turn, run), waitsBefore);
  }

  async releaseConnection(turn: Turn): Promise<void> {
    turn.leave();
  }

  async beginTransaction(turn: Turn): Promise<void> {
    this.#group ??= await this.#begin(turn);
    this.#connection.run("savepoint turn");
    turn.group = this.#group;
    this.#running = turn;
  }

  async commitTransaction(turn: Turn): Promise<void> {
    const { group } = turn;
    this.#run(turn, (connection) => connection.run("release turn"));
    this.#end(turn);
    await group?.committed;
  }

  // A transaction may have read changes of its group, so its failure waits for their commit too.
  async rollbackTransaction(turn: Turn): Promise<void> {
    const { group } = turn;
    if (group === undefined) return;
    if (group === this.#group) this.#connection.run("rollback to turn; release turn");
    this.#end(turn);
    await group.committed;
  }

  async destroy(): Promise<void> {
    this.#abandon(new Error("the database was closed"));
    this.#database.close();
  }

  // A deferred transaction that reads before it writes fails under concurrency despite a timeout. The time in the queue
  // counts: while another process keeps the database locked, each transaction would wait after those before it.
  async #begin({ waitsBefore }: Turn): Promise<Group> {
    for (;;) {
      try {
        this.#connection.run("begin immediate");
        break;
      } catch (error) {
        if (!isSqliteBusy(error) || (this.#waits - waitsBefore) * RETRY_MS >= this.#retryMs)
          throw error;
      }
      this.#waits += 1;
      // SQLite's own wait for another process's write would hold the event loop.
      await setTimeout(RETRY_MS);
    }
    const group = new Group();
    setImmediate(() => {
      group.isDue = true;
      if (this.#running === undefined) this.#commit(group);
    });
    return group;
  }

  #run<T>(turn: Turn, run: Run<T>): T {
    if (turn.isOver) throw new Error("the transaction has ended");
    // A query without a transaction is committed by itself.
    if (turn.group === undefined && this.#group !== undefined) this.#commit(this.#group);
    if (turn.group !== this.#group) throw new Error("the transaction was rolled back");
    try {
      return run(this.#connection);
    } catch (error) {
      // After some errors SQLite has rolled back everything.
      if (this.#group !== undefined && !this.#connection.inTransaction) this.#abandon(error);
      throw error;
    }
  }

  /** Ends one transaction of a group; the next one can begin. */
  #end(turn: Turn): void {
    const { group } = turn;
    turn.group = undefined;
    turn.isOver = true;
    this.#running = undefined;
    if (group?.isDue === true) this.#commit(group);
    turn.leave();
  }

  #commit(group: Group): void {
    if (group !== this.#group) return;
    try {
      this.#connection.run("commit");
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.run("rollback");
      this.#abandon(error);
      return;
    }
    this.#group = undefined;
    group.settle();
  }

  #abandon(error: unknown): void {
    this.#group?.refuse(error);
    this.#group = undefined;
  }
}
