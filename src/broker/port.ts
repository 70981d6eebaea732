import type { CallOptions, Reply } from "../client/port.ts";
import type { ArgsOf, Operation } from "../contract/operation.ts";
import type { HeldRights } from "./held-rights.ts";

/** A stored secret of the person. It is never shown to a model. */
export type StoredSecret = {
  name: string;
  kind: "api-key" | "webhook-secret";
  /** The id of the API key or webhook. */
  keyId: string;
  tenantId: string;
  createdAt: string;
};

export type Vault = {
  /** Stores a secret and returns the name chosen for it. */
  put(entry: {
    kind: StoredSecret["kind"];
    keyId: string;
    tenantId: string;
    value: string;
  }): Promise<string>;
  list(): Promise<StoredSecret[]>;
  /** Returns the secret, for a person's terminal only; undefined if the name is unknown. */
  show(name: string): Promise<string | undefined>;
  remove(name: string): Promise<boolean>;
};

/** The platform as one person may use it. The broker adds tenant and credential; its callers never see either. */
export type Broker = {
  /** Calls an operation; `args` never hold tenantId, password or accessToken. Throws Problem. */
  call<O extends Operation>(operation: O, args: ArgsOf<O>, options: CallOptions): Promise<Reply<O>>;
  /** Opens (or reopens) the login session; the reply's output lacks the token. */
  login(options: CallOptions): Promise<Reply>;
  verify(options: CallOptions): Promise<Reply>;
  logout(options: CallOptions): Promise<Reply>;
  /**
   * Returns the ids of operations beyond the documents that the platform announces; `isNeeded`: waits for the answer of a
   * slow platform.
   */
  extensions(signal?: AbortSignal, isNeeded?: boolean): Promise<ReadonlySet<string>>;
  /** The known rights of the person's credentials. */
  rights?: HeldRights;
  /** Asks a platform that names rights for them, once a minute at most, for a few seconds; never rejects. */
  learnRights?(): Promise<void>;
  vault: Vault;
  tenantId: string;
  /** Identifies the credential's owner, to bind cursors and confirmations to it; not a secret. */
  principal: string;
  close(): Promise<void>;
};
