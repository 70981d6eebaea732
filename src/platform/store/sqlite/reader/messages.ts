import type { SQLInputValue } from "node:sqlite";

/** A statement with its parameters, as Kysely compiles it. */
export type Statement = { sql: string; parameters: readonly SQLInputValue[] };

/**
 * A request to a reader thread for one session. A session is a connection with at most one open view, and at most one
 * open cursor.
 */
export type ReaderRequest =
  | { act: "begin" }
  | { act: "execute"; statement: Statement }
  | { act: "open"; statement: Statement }
  | { act: "fetch"; rows: number }
  | { act: "closeCursor" }
  /** Ends the view; the connection stays open for the session's next one. */
  | { act: "end" };

export type ReaderMessage = { id: number; session: number; request: ReaderRequest };

/** An error without its prototype: structured cloning loses the codes of SQLite's errors. */
export type ReaderFault = { message: string; code?: unknown; errcode?: unknown };

export type ReaderReply = { id: number; rows: unknown[] } | { id: number; fault: ReaderFault };
