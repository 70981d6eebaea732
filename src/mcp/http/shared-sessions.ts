import type { SharedSubscriptions } from "../resources/shared-subscriptions.ts";

/** What a node needs to continue a session that another node opened. */
export type SessionRecord = {
  /** The id and client of the caller who opened the session. */
  caller: string;
  client: string;
  /** The parameters of the request `initialize`, without parts that no node reads. */
  initialize: Record<string, unknown>;
};

/** Sessions of hosts of 2025 that the nodes behind one address share. */
export type SharedSessions = SharedSubscriptions & {
  add(session: string, record: SessionRecord): Promise<void>;
  /** Returns the session and extends its life; undefined if it has ended. */
  find(session: string): Promise<SessionRecord | undefined>;
  end(session: string): Promise<void>;
  /** Calls `receive` once with the response to a request that this node sends to the host. Call the result to stop. */
  expectResponse(
    session: string,
    id: string,
    receive: (response: unknown) => void,
  ): Promise<() => void>;
  /** Passes a response on to the node that expects it; a response that no node expects is ignored. */
  passResponse(session: string, id: string, response: unknown): Promise<void>;
  /** Passes on that the host canceled a request. */
  passCancel(session: string, requestId: string): Promise<void>;
  /** Calls `cancel` for requests of the session that the host canceled at another node. Call the result to stop. */
  watchCancels(session: string, cancel: (requestId: string) => void): () => void;
};
