import type { RawBuilder } from "kysely";
import type { Source } from "../../../contract/payments/catalogue.ts";
import type { Filter } from "../../../contract/payments/filter.ts";
import type { Field } from "../../../contract/payments/field.ts";
import type { Db } from "../port.ts";

export type Value = string | number | null;

export type RowTarget = {
  table: string;
  columns: readonly string[];
  /** An `on conflict` clause; without one, every row must be new. */
  onConflict?: RawBuilder<unknown>;
};

/** `order`: the columns of the index that finds the rows; without it, deleted ones would be read again and again. */
export type FirstRows = { where: RawBuilder<unknown>; order: readonly string[]; most: number };

export const ROW_SEPARATOR = ",\n";

/** Rows as the bytes of JSON objects with {@link ROW_SEPARATOR} between them; a row itself contains no line feed. */
export type RowBytes = {
  /** With `isFrame`, one zstd frame of the bytes. */
  bytes: Uint8Array;
  rowCount: number;
  isFrame?: boolean;
};

export type PaymentSelection = {
  tenantId: string;
  source: Source;
  fields: readonly Field[];
  /** The reader may compress many rows. */
  framed?: boolean;
};

/** Selects the rows of a source that match a filter and have `after < seq <= upTo`. */
export type PaymentScan = {
  tenantId: string;
  source: Source;
  filter: Filter;
  after: number;
  upTo: number;
};

/** Reads the payment rows that fulfil a condition, ordered by `seq`. */
export type ReadRows = (where: RawBuilder<boolean>) => Promise<RowBytes>;

export type PaymentQueries = {
  /** Rows per query of a page or stream. */
  rowsPerRead: number;
  /** The width of the range of `seq` that one query scans. */
  seqsPerScan: number;
  createRowReader(db: Db, selection: PaymentSelection): ReadRows;
  /** Yields conditions, in the order of `seq`, that together select the rows of a scan, a bounded number each. */
  findStretches(db: Db, scan: PaymentScan): AsyncGenerator<RawBuilder<boolean>, void, undefined>;
};

/** A table whose column `search_text` is searched, and the column that identifies a tenant's rows. */
export type SearchTarget = { table: "accounts" | "documents"; key: string };

/** An index of every three adjacent characters of `search_text`, maintained by the database. */
export type SearchIndex = {
  create(db: Db, target: SearchTarget): Promise<void>;
  /** Makes the index forget rows that are removed. */
  addRemoval(db: Db, target: SearchTarget): Promise<void>;
  /**
   * The condition that a row contains all the triples of a text; undefined if so many contain it that reading the
   * tenant's rows in their order finds them as soon.
   */
  findTriples(
    db: Db,
    target: SearchTarget,
    sought: { tenantId: string; triples: readonly string[]; holds: RawBuilder<boolean> },
  ): Promise<RawBuilder<boolean> | undefined>;
};

/** Exact sums of amounts: doubles of at most 15 digits and 6 decimals, which a database cannot add up as such. */
export type DecimalSums = {
  /** The exact numbers that an amount consists of. */
  split(amount: RawBuilder<unknown>): readonly RawBuilder<unknown>[];
  /** The number that orders the sums of the parts, exact unless it is very large. */
  order(sums: readonly RawBuilder<unknown>[]): RawBuilder<number | null>;
  /** The sums of the parts as one text; null where nothing was added. */
  text(sums: readonly RawBuilder<unknown>[]): RawBuilder<string | null>;
  /** Converts the text to a decimal. */
  parse(text: string): string;
};

/** Tables that a database may divide: payments by tenant, the audit log by month and within it by tenant. */
export type Partitions = {
  /** Divides tables that exist, with their rows. */
  divide(db: Db, now: number): Promise<void>;
  /** Creates the parts of this month and the next ones, and removes empty ones of the past. Call it in a transaction. */
  prepareMonths(tx: Db, now: number): Promise<void>;
};

/** SQL and statements that differ between the databases beyond what Kysely compiles; each dialect's folder has its own. */
export type DialectOperations = {
  /** The column equals one of the values, sent as one parameter, so that lists of every length share a statement. */
  isAmong(column: string, values: readonly (string | number)[]): RawBuilder<boolean>;
  /** Like `isAmong`, for many values of an indexed key. */
  isAmongKeys(column: string, values: readonly string[] | readonly number[]): RawBuilder<boolean>;
  /**
   * The row is one of the first rows that fulfil a condition; of a divided table, of each of its parts. SQLite counts
   * rows with the same values in the columns of the order as one.
   */
  isAmongFirst(table: string, first: FirstRows): RawBuilder<boolean>;
  /** Selects texts as the rows of a column `value`. */
  unnest(texts: readonly string[]): RawBuilder<unknown>;
  /** Aggregates a column of whole numbers to the text of a JSON array. */
  aggregateJson(column: string): RawBuilder<string>;
  /** The text of a member of the JSON object that a text column holds. */
  readJsonMember(column: string, member: string): RawBuilder<string>;
  /** Writes rows in bulk, which is faster than statements for at least so many rows. */
  copyRows: {
    least: number;
    run(tx: Db, target: RowTarget, rows: readonly Record<string, Value>[]): Promise<void>;
  };
  /**
   * Tells the planner how many rows large tables and their indexes have, where the database does not count them. A
   * migration that adds an index to one of them calls it.
   */
  describeLargeTables(db: Db): Promise<void>;
  /**
   * Stores the rows of a table in the index of its key, where the database can: a row is then found with one read less.
   * The table must not have other indexes.
   */
  storeInKey(db: Db, table: string, key: readonly string[]): Promise<void>;
  partitions: Partitions;
  /** Whether one statement can change two tables, which saves a round trip. */
  changesTwoTables: boolean;
  /** Whether processes share the scan of a table, so that one scan for several conditions beats one for each. */
  scansInParallel: boolean;
  payments: PaymentQueries;
  search: SearchIndex;
  sums: DecimalSums;
  /** The ISO week of a day in text, such as `2023-W07`. */
  formatWeek(day: RawBuilder<string>): RawBuilder<string>;
  /** The text of a day that is a number of days since 1970-01-01. */
  formatDay(number: RawBuilder<number>): RawBuilder<string>;
  /** The day of a date-time in text, so many seconds later. */
  formatLater(time: RawBuilder<unknown>, seconds: RawBuilder<unknown>): RawBuilder<string>;
};

/** Kysely's adapter with the dialect's operations: every connection and transaction of a store has it. */
export type StoreAdapter = { readonly operations: DialectOperations };

/** Returns the operations of the database that `db` belongs to. */
export const getDialect = (db: Db): DialectOperations => {
  const adapter: object = db.getExecutor().adapter;
  if (!("operations" in adapter)) throw new TypeError("The database was not opened as a store.");
  return (adapter as StoreAdapter).operations;
};
