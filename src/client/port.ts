import type { ConfirmationWay } from "../contract/confirmation.ts";
import type { ArgsOf, Operation, OutputOf } from "../contract/operation.ts";
import type { Permission, Scope } from "../contract/permissions.ts";

/** Headers that carry a credential, by name. They never leave the client. */
export type CredentialHeaders = Record<string, string>;

export type CallOptions = {
  /** The MCP tool on whose behalf the call is made; it appears in the audit log. Undefined: the server reads for itself. */
  tool: string | undefined;
  /** The way in which a person confirmed the change; it appears in the audit log. Undefined for reads. */
  confirmedBy?: ConfirmationWay | undefined;
  idempotencyKey?: string | undefined;
  ifMatch?: string | undefined;
  /** Create the record only if it does not exist (`If-None-Match: *`). */
  ifAbsent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the rights of the credential, where an answer names them. */
  onRights?: ((rights: readonly (Permission | Scope)[]) => void) | undefined;
  /** For operations that answer with a file: its maximum size in bytes; a larger file is not read. */
  maxFileBytes?: number | undefined;
};

/** The answer to a call. */
export type Reply<O extends Operation = Operation> = {
  status: number;
  /** The parsed body; null where the operation has none. */
  output: OutputOf<O>;
  etag: string | null;
  requestId: string | null;
  /** X-Total-Count of a list. */
  total: number | null;
  /** Body fields the platform did not know. */
  ignoredFields: string[];
  /** The bytes of a file that `output` describes; absent when it is larger than `maxFileBytes`. */
  bytes?: Uint8Array | undefined;
};

/** The arguments of a call, with the tenant where the operation's path has one. */
export type ClientArgs<O extends Operation> = ArgsOf<O> | (ArgsOf<O> & { tenantId: string });

/** Calls operations. Arguments are one object with the names of path, query and body. Throws Problem. */
export type Client = {
  call<O extends Operation>(
    operation: O,
    args: ClientArgs<O>,
    credential: CredentialHeaders,
    options: CallOptions,
  ): Promise<Reply<O>>;
  /**
   * Returns the ids of operations beyond the documents, as the platform announces them; empty if it does not answer for 5
   * seconds, or for as long as a request may take where they are needed. A later answer is known to the next call.
   */
  extensions(signal?: AbortSignal, isNeeded?: boolean): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
};

/** One HTTP exchange: undici for a remote platform, the app itself for the embedded one. */
export type Transport = {
  send(request: WireRequest): Promise<WireReply>;
  /** Time limit of one call including retries, in milliseconds. */
  requestMs: number;
  /** Whether a GET can have a body; if not, the POST alias is used. */
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
  /** Set when the response is a file: the maximum number of bytes to read. */
  maxFileBytes?: number | undefined;
};

export type WireReply = {
  status: number;
  headers: Record<string, string>;
  /** Text of bounded size; empty when the response is a file. */
  body: string;
  /** The file; absent when it is too large. */
  bytes?: Uint8Array | undefined;
};
