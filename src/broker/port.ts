import type { CallOptions, Reply } from "../client/port.ts";
import type { Operation } from "../contract/operation.ts";

/** A secret kept for the person, never shown to a model. */
export type StoredSecret = {
  name: string;
  kind: "api-key" | "webhook-secret";
  /** Of the record that it belongs to. */
  keyId: string;
  createdAt: string;
};

export type Vault = {
  /** Keeps a secret under a name of its own choosing and tells that name. */
  put(entry: {
    kind: StoredSecret["kind"];
    keyId: string;
    tenantId: string;
    value: string;
  }): Promise<string>;
  list(): Promise<StoredSecret[]>;
  /** The secret itself, or undefined. For a person's terminal alone. */
  show(name: string): Promise<string | undefined>;
  remove(name: string): Promise<boolean>;
};

/** The platform as one person may use it: the broker adds tenant and credential, which nobody above it sees. */
export type Broker = {
  /** Calls an operation; `args` never hold tenantId, password or accessToken. Throws Problem. */
  call(operation: Operation, args: Record<string, unknown>, options: CallOptions): Promise<Reply>;
  /** Opens (or reopens) the login session; the reply's output lacks the token. */
  login(options: CallOptions): Promise<Reply>;
  verify(options: CallOptions): Promise<Reply>;
  logout(options: CallOptions): Promise<Reply>;
  vault: Vault;
  tenantId: string;
  /** Names whose credential is used, for binding cursors and confirmations; no secret. */
  principal: string;
  close(): Promise<void>;
};
