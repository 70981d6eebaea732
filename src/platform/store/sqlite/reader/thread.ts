import { DatabaseSync, type StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { addFunctions } from "./functions.ts";
import type {
  ReaderFault,
  ReaderMessage,
  ReaderReply,
  ReaderRequest,
  Statement,
} from "./messages.ts";

// The program of a reader thread: long reads run here, so that the event loop of the server stays free.

const { path, timeout } = workerData as { path: string; timeout: number };
const CACHED_STATEMENTS = 100;

class Session {
  readonly #database = addFunctions(new DatabaseSync(path, { readOnly: true, timeout }));
  readonly #statements = new Map<string, StatementSync>();
  #cursor: Iterator<unknown> | undefined;

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    if (this.#statements.size >= CACHED_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }

  // The view is of the moment of the first read.
  begin(): void {
    this.#database.exec("begin; select 1 from sqlite_schema limit 1");
  }

  execute({ sql, parameters }: Statement): unknown[] {
    return this.#prepare(sql).all(...parameters);
  }

  // A cursor has a statement of its own: a cached one may run again before the cursor is at its end.
  open({ sql, parameters }: Statement): void {
    this.closeCursor();
    this.#cursor = this.#database.prepare(sql).iterate(...parameters);
  }

  fetch(count: number): unknown[] {
    const rows: unknown[] = [];
    while (rows.length < count) {
      const next = this.#cursor?.next();
      if (next === undefined || next.done === true) break;
      rows.push(next.value);
    }
    if (rows.length < count) this.#cursor = undefined;
    return rows;
  }

  closeCursor(): void {
    this.#cursor?.return?.();
    this.#cursor = undefined;
  }

  end(): void {
    this.closeCursor();
    if (this.#database.isTransaction) this.#database.exec("commit");
  }
}

const sessions = new Map<number, Session>();

const findSession = (number: number): Session => {
  const known = sessions.get(number);
  if (known !== undefined) return known;
  const session = new Session();
  sessions.set(number, session);
  return session;
};

const perform = (session: Session, request: ReaderRequest): unknown[] => {
  switch (request.act) {
    case "execute":
      return session.execute(request.statement);
    case "fetch":
      return session.fetch(request.rows);
    case "open":
      session.open(request.statement);
      return [];
    default:
      session[request.act]();
      return [];
  }
};

const toFault = (error: unknown): ReaderFault => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message } = error;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return { message, code, errcode };
};

/** Returns the memory of blobs in the first row, which is handed over: copying it takes as long as reading it. */
const findBlobs = (reply: ReaderReply): ArrayBuffer[] =>
  Object.values(("rows" in reply && reply.rows[0]) || {})
    .map((value: unknown) => (value instanceof Uint8Array ? value.buffer : undefined))
    .filter((buffer) => buffer instanceof ArrayBuffer);

parentPort?.on("message", ({ id, session, request }: ReaderMessage) => {
  let reply: ReaderReply;
  try {
    reply = { id, rows: perform(findSession(session), request) };
  } catch (error) {
    reply = { id, fault: toFault(error) };
  }
  parentPort?.postMessage(reply, findBlobs(reply));
});
