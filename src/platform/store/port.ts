import type { Compilable, Kysely } from "kysely";
import type { StoreAuditKey } from "./audit-key.ts";
import type { Tables } from "./tables/schema.ts";

/** Reads and writes; inside a transaction, all of them are part of it. */
export type Db = Kysely<Tables>;

/** One unchanging view of the store. Close or dispose of it, or its connection is lost. */
export type Snapshot = AsyncDisposable & {
  db: Db;
  /** The rows of a query as they are read, in bounded memory. */
  stream<Row>(query: Compilable<Row>): AsyncIterable<Row>;
  /** Releases the view; a second call has no effect. */
  close(): Promise<void>;
};

export type SnapshotOptions = {
  /** Each owner, such as a tenant, holds a bounded number of views; owners take turns. */
  owner: string;
  /** Ends the wait for a view, and the view itself. */
  signal?: AbortSignal;
  /** Each query reads many rows at once, so it must not delay the short queries of other views. */
  aggregates?: boolean;
  /** Many large queries are asked at once, so two of them may run at a time, where the store has a second reader. */
  parallel?: boolean;
  /** Releases the view after this time, in milliseconds; later reads throw {@link ViewExpired}. */
  maxMs?: number;
};

/** The view was released before all of it was read: it expired, or its reader has gone. */
export class ViewExpired extends Error {
  constructor() {
    super("the view of the store was released before it was read to its end");
    this.name = "ViewExpired";
  }
}

/** The owner has reached its limit of running and waiting views. */
export class TooManyReads extends Error {
  constructor() {
    super("too many long reads of one owner");
    this.name = "TooManyReads";
  }
}

// When several addresses fail, Node throws one error without a message.
const findReason = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause);
  return cause.message === "" && "code" in cause ? String(cause.code) : cause.message;
};

/** The database cannot be used now: disk full, input or output failed, connection lost. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the store cannot be used: ${findReason(cause)}`, { cause });
    this.name = "StoreUnavailable";
  }
}

/** The tenant takes no changes and no audit entries until it is resumed, because it is being moved. */
export class TenantPaused extends Error {
  readonly tenantId: string;

  constructor(tenantId: string) {
    super(
      `The tenant ${tenantId} is paused, because it is being moved to another installation. Nothing was changed.`,
    );
    this.name = "TenantPaused";
    this.tenantId = tenantId;
  }
}

/** Handles a rejection that may be a pause. @throws any other error */
export const unlessPaused = (error: unknown): void => {
  if (!(error instanceof TenantPaused)) throw error;
};

/** The current use of a bounded resource. */
export type PoolUse = { pool: string; busy: number; free: number; waiting: number };

/** The platform's database. */
export type Store = {
  dialect: "sqlite" | "postgres";
  /** Signs the audit chains. */
  auditKey: StoreAuditKey;
  /** Reads committed data, for few rows by an index, because SQLite runs these reads on the event loop. */
  read: Db;
  /**
   * Runs a transaction. Writers with the same queue (usually a tenant's id) run one after the other, so what one reads
   * stays true until it commits. It must await nothing but the store.
   */
  transaction<T>(act: (tx: Db) => Promise<T>, queue?: string): Promise<T>;
  /** Runs a transaction that only adds entries to audit logs: in this process, it does not change the stamp. */
  append(act: (tx: Db) => Promise<void>): Promise<void>;
  /** Counters, written without a flush to disk: a power failure may lose the last of them. */
  counting: Db;
  /**
   * Increases with every transaction and every commit of another process. Undefined where that would need a read, or
   * where it would wait for another process.
   */
  stamp(): number | undefined;
  /**
   * Opens a view for long reads: they run beside the event loop and use no connection of `read`. It shows at least what
   * was committed before the call.  @throws {TooManyReads}
   */
  snapshot(options: SnapshotOptions): Promise<Snapshot>;
  /** Tells other processes at the transaction's commit that something has changed, if the database can. */
  announce(tx: Db, key: string): Promise<void>;
  /** Returns how far its connections and views are used. */
  pools(): PoolUse[];
  /** Rejects if the database does not respond. */
  ping(): Promise<void>;
  close(): Promise<void>;
};
