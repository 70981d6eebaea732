import type { Served } from "../contract/index.ts";
import type { Fault, ProblemDetails, SharedCode } from "../contract/errors.ts";
import type { FailCode, Input, Operation, Output } from "../contract/operation.ts";
import type { Permission, Scope } from "../contract/permissions.ts";
import type { Db, Snapshot } from "./store/port.ts";

/** Who a credential speaks for. */
export type Principal = {
  /** The user's id; an export key's own. */
  id: string;
  email: string;
  via: "session" | "key" | "export-key";
  /** The session's or key's id. */
  credentialId: string;
  /** What may be done in the call's tenant. */
  may: ReadonlySet<Permission | Scope>;
};

type CallerOf<O extends Operation> = O["access"] extends "public" ? null : Principal;

/** What a handler knows of the request beside its input. */
export type Call<O extends Operation = Operation> = {
  caller: CallerOf<O>;
  /** The path's tenant, or the key's; empty where an operation has none. */
  tenantId: string;
  requestId: string;
  /** Epoch milliseconds at which the request arrived. */
  now: number;
  ip: string;
  origin: "api" | "mcp";
  signal: AbortSignal;
  /** Where the sender reaches this service, without a slash at its end. */
  baseUrl(): Promise<string>;
  /** Reads outside a transaction. */
  db: Db;
  /** One unchanging view of the store on a connection of its own; whoever opens it closes it. */
  snapshot(): Promise<Snapshot>;
  /** Runs a change in one transaction, together with its audit entry. Never waits for anything but the store. */
  change<T>(act: (tx: Db) => Promise<T>): Promise<T>;
  /**
   * A change that makes a record: what `shape` gives is the answer, and a repeat of the request
   * under the same Idempotency-Key gets it again. What never changes has no version.
   */
  create<Row extends { id: string; version?: number }, T>(
    act: (tx: Db) => Promise<Row>,
    shape: (row: Row) => T,
  ): Promise<T>;
  fail(code: FailCode<O> | SharedCode, message: string, details?: ProblemDetails): never;
  /** Refuses the body because of one field. */
  refuse(field: string, code: Fault["code"], message: string): never;
  /** Refuses the body because of all that is wrong with it. */
  invalid(faults: Fault[]): never;
  /** Names in the answer what of a late body has no meaning, given what has. */
  ignores(sent: unknown, known: unknown): void;
  /** Inside an upsert's change: there was no record, so the answer is 201. Refuses an If-Match. */
  made(): void;
  /** Tells the audit log what the record was before the change. */
  was(value: unknown): void;
  /** Adds to what the audit log keeps of the request; ids and words of ours, never what people wrote. */
  mentions(facts: Record<string, string>): void;
  /** Names the tenant of an operation whose path has none, for the audit log. */
  attribute(tenantId: string): void;
  /** Gives the answer its ETag, and inside a change refuses a stale If-Match. */
  version(record: { id: string; version: number }): void;
};

/** A list that is too long to hold: its length, and its rows as they are read. */
export type Listing<T> = {
  total: number;
  rows: AsyncIterable<T> | Iterable<T>;
  /** Set where the caller asked for pages; one that the body names has no address of its own. */
  page?: { page: number; pageSize: number; inBody?: true };
  /** Gives back what the rows are read from, read or not. */
  close?: () => Promise<void>;
};

/** A page that is too long to hold: its rows as they are read, and what is known of it before and after. */
export type Page<T> = {
  /** What stands before the rows. */
  head: Omit<T, "data" | "pagination">;
  /** How many rows it will have. */
  rowCount: number;
  /** The JSON of its rows with commas between, in pieces. */
  data: AsyncIterable<Uint8Array>;
  /** What stands after the rows, asked for once they are read. */
  pagination: () => T extends { pagination: infer P } ? P : never;
  /** Gives back what the rows are read from, read or not. */
  close: () => Promise<void>;
};

/** A record one of whose lists is too long to hold: its other fields, and the list as it is read. */
export type Streamed<Record> = {
  [Name in keyof Record & string]: Record[Name] extends (infer Row)[]
    ? { fields: Omit<Record, Name>; list: Name; listing: Listing<Row> }
    : never;
}[keyof Record & string];

/** A file as it is read; whoever answers with it reads or cancels it. */
export type FileAnswer = {
  fileName: string;
  mimeType: string;
  fileSize: number;
  bytes: ReadableStream<Uint8Array>;
};

export type Answer<O extends Operation> = O["file"] extends true ? FileAnswer : JsonAnswer<O>;

type JsonAnswer<O extends Operation> =
  Output<O> extends (infer Row)[]
    ? Row[] | Listing<Row>
    : Output<O> extends { data: unknown[]; pagination: unknown }
      ? Output<O> | Page<Output<O>>
      : Output<O> | Streamed<NonNullable<Output<O>>>;

export type Handler<O extends Operation> = (input: Input<O>, call: Call<O>) => Promise<Answer<O>>;

export type Handlers<Group> = {
  [Verb in keyof Group]: Group[Verb] extends Operation ? Handler<Group[Verb]> : never;
};

/** Every service of the platform: what the contract promises, fulfilled. */
export type Services = { [Noun in keyof Served]: Handlers<Served[Noun]> };
