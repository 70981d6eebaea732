import type { Operation } from "../contract/operation.ts";

/** Headers that carry a credential, by name. They never leave the client. */
export type CredentialHeaders = Record<string, string>;

export type CallOptions = {
  /** The MCP tool on whose behalf the call is made; it appears in the audit log. */
  tool: string;
  idempotencyKey?: string | undefined;
  ifMatch?: string | undefined;
  /** The record is to be made, and left alone where there is one already. */
  ifAbsent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** How large a file may be to be read, where the answer is one; a larger one is left where it is. */
  maxFileBytes?: number | undefined;
};

export type Reply = {
  status: number;
  /** The parsed body; null where the operation has none. */
  output: unknown;
  etag: string | null;
  requestId: string | null;
  /** X-Total-Count of a list. */
  total: number | null;
  /** Body fields the platform did not know. */
  ignoredFields: string[];
  /** A file's bytes, whose output tells what it is; absent where it is larger than was asked for. */
  bytes?: Uint8Array | undefined;
};

/** An operation and its arguments (names of path, query and body in one object) to a reply, or a Problem thrown. */
export type Client = {
  call(
    operation: Operation,
    args: Record<string, unknown>,
    credential: CredentialHeaders,
    options: CallOptions,
  ): Promise<Reply>;
  close(): Promise<void>;
};

/** One HTTP exchange: undici for a remote platform, the app itself for the embedded one. */
export type Transport = {
  send(request: WireRequest): Promise<WireReply>;
  /** How long one call may take in all, with every try. */
  requestMs: number;
  /** Whether a GET may carry a body; where not, the POST twin is used. */
  getWithBody: boolean;
  close(): Promise<void>;
};

export type WireRequest = {
  service: Operation["service"];
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
  /** Set where the answer is a file: at most so many bytes of it are wanted. */
  maxFileBytes?: number | undefined;
};

export type WireReply = {
  status: number;
  headers: Record<string, string>;
  /** Text, already bounded in size; empty where a file was asked for and came. */
  body: string;
  /** The file; absent where it is too large. */
  bytes?: Uint8Array | undefined;
};
