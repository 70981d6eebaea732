import type { Compilable, Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** Reads and writes; inside a transaction, all of them are part of it. */
export type Db = Kysely<Tables>;

/** One unchanging view of the store. Close it, or its connection is lost. */
export type Snapshot = {
  db: Db;
  /** The rows of a query as they are read, in bounded memory. */
  stream<Row>(query: Compilable<Row>): AsyncIterable<Row>;
  close(): Promise<void>;
};

/** The platform's durable memory. It throws only what is nobody's fault but its own. */
export type Store = {
  dialect: "sqlite" | "postgres";
  /** Reads what is committed. */
  read: Db;
  /** All or nothing; writers queue. No waiting inside for anything but the store. */
  transaction<T>(act: (tx: Db) => Promise<T>): Promise<T>;
  snapshot(): Promise<Snapshot>;
  /** Rejects when the store cannot answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
};
