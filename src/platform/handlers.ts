import type { PlatformContract } from "../contract/index.ts";
import type { AuditFacts, Fault, ProblemDetails, SharedErrorCode } from "../contract/errors.ts";
import type { FailCode, Input, Operation, OutputOf } from "../contract/operation.ts";
import type { Permission, Scope } from "../contract/permissions.ts";
import type { Span } from "./files/port.ts";
import type { Preconditions, RecordVersion } from "./preconditions.ts";
import type { Db, Snapshot, SnapshotOptions } from "./store/port.ts";

/** The user or export key that a credential belongs to. */
export type Principal = {
  /** The user's id; an export key's own. */
  id: string;
  email: string;
  via: "session" | "key" | "export-key";
  /** The session's or key's id. */
  credentialId: string;
  /** Permissions or scopes in the call's tenant. */
  may: ReadonlySet<Permission | Scope>;
};

type CallerOf<O extends Operation> = O["access"] extends "public" ? null : Principal;

/** The context of a handler, besides its input. */
export type Call<O extends Operation = Operation> = Preconditions & {
  caller: CallerOf<O>;
  /** The path's tenant, or the key's; empty where an operation has none. */
  tenantId: string;
  /** Epoch milliseconds at which the request arrived. */
  now: number;
  ip: string;
  origin: "api" | "mcp";
  /** Returns the address at which the caller reaches this service, without a trailing slash. */
  baseUrl(): Promise<string>;
  /** Reads outside a transaction. */
  db: Db;
  /** Opens a consistent view of the store on a connection of its own. Close it. */
  snapshot(options?: Pick<SnapshotOptions, "aggregates">): Promise<Snapshot>;
  /**
   * Runs a change in one transaction and returns its result, which the handler returns in turn. The audit entry and,
   * where the result has a `createdId`, the Idempotency-Key are written in the same transaction. `act` must await
   * nothing but the store.
   * @param tenantId the tenant whose changes are serialized, where the path names none
   */
  change<R extends Result<unknown>>(act: (tx: Db) => Promise<R>, tenantId?: string): Promise<R>;
  fail(code: FailCode<O> | SharedErrorCode, message: string, details?: ProblemDetails): never;
  /** Rejects the body because of one field. */
  refuse(field: string, code: Fault["code"], message: string): never;
  /** Rejects the body with all its faults. */
  invalid(faults: Fault[]): never;
};

/** The return value of a handler. The response and the audit entry are built from it in `http/reply.ts`. */
export type Result<Body> = {
  body: Body;
  /** The record's version after the request; becomes the ETag. */
  version?: RecordVersion;
  /** Id of the record that the request created: the status is 201, and the Idempotency-Key refers to it. */
  createdId?: string;
  /** Paths of the body's fields that have no meaning here, if the service validates the body (`lateValidation`). */
  ignored?: string[];
  audit?: AuditFacts;
  /** Headers of a rate limit that the handler applied. */
  rateLimitHeaders?: Record<string, string>;
};

/** A list that is streamed instead of held in memory: its length and its rows. */
export type Listing<T> = {
  total: number;
  rows: AsyncIterable<T> | Iterable<T>;
  /** Set where the caller asked for a page; a page named in the body gets no Link header. */
  page?: { page: number; pageSize: number; inBody?: true };
  /** Releases the source of the rows, whether they were read or not. */
  close?: () => Promise<void>;
};

/** A page whose rows are streamed as JSON: fields before the rows, the rows, and the pagination after them. */
export type Page<T> = {
  /** Fields written before the rows. */
  head: Omit<T, "data" | "pagination">;
  rowCount: number;
  /** JSON of the rows, separated by commas, in chunks. */
  data: AsyncIterable<Uint8Array>;
  /** Returns the pagination; called once all rows are read. */
  pagination: () => T extends { pagination: infer P } ? P : never;
  /** Releases the source of the rows, whether they were read or not. */
  close: () => Promise<void>;
};

/** A record with one list that is streamed: its other fields, and the list. */
export type Streamed<Record> = {
  [Name in keyof Record & string]: Record[Name] extends (infer Row)[]
    ? { fields: Omit<Record, Name>; list: Name; listing: Listing<Row> }
    : never;
}[keyof Record & string];

/** A file as a stream. The consumer reads `bytes` to the end or cancels it. */
export type FileAnswer = {
  fileName: string;
  mimeType: string;
  /** Size of the whole file. */
  fileSize: number;
  /** The span that `bytes` are; undefined: the whole file. */
  span?: Span | undefined;
  /** Set where ranges of the file can be requested. */
  etag?: string;
  bytes: ReadableStream<Uint8Array>;
};

export type Answer<O extends Operation> = O["file"] extends true ? FileAnswer : JsonAnswer<O>;

type JsonAnswer<O extends Operation> =
  OutputOf<O> extends (infer Row)[]
    ? Row[] | Listing<Row>
    : OutputOf<O> extends { data: unknown[]; pagination: unknown }
      ? OutputOf<O> | Page<OutputOf<O>>
      : OutputOf<O> | Streamed<NonNullable<OutputOf<O>>>;

export type Handler<O extends Operation> = (
  input: Input<O>,
  call: Call<O>,
) => Promise<Result<Answer<O>>>;

export type Handlers<Group> = {
  [Verb in keyof Group]: Group[Verb] extends Operation ? Handler<Group[Verb]> : never;
};

/** A handler for each operation that the platform serves. */
export type Services = { [Noun in keyof PlatformContract]: Handlers<PlatformContract[Noun]> };
