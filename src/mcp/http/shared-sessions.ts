import type { SharedSubscriptions } from "../resources/shared-subscriptions.ts";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
  type WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { randomToken } from "../../kit/ids.ts";

/** The state with which a node continues a session that another node opened. */
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

const CANCELED = "notifications/cancelled";

/** Ids as text: `1` and `"1"` are two requests. */
const toKey = (id: RequestId): string => JSON.stringify(id);

export type SharedTransport = {
  /** Passes messages of the host on that belong to requests of other nodes, and returns those for this node. */
  route(messages: readonly JSONRPCMessage[]): Promise<JSONRPCMessage[]>;
  close(): void;
};

type Needs = { shared: SharedSessions; session: () => string };

/** Creates the requests to the host that have no response yet, by the ids that the host sees. */
const createRequests = (
  { shared, session }: Needs,
  receive: (response: JSONRPCMessage) => void,
) => {
  const waiting = new Map<string, { id: RequestId; stop: () => void }>();

  const end = (name: string): RequestId | undefined => {
    const request = waiting.get(name);
    waiting.delete(name);
    request?.stop();
    return request?.id;
  };

  /** Passes a response to the server; returns false if it belongs to no request of this node. */
  const deliver = (name: string, response: object): boolean => {
    const id = end(name);
    if (id !== undefined) receive({ ...response, id } as JSONRPCMessage);
    return id !== undefined;
  };

  return {
    deliver,
    /** Adds a request, and returns the id that is unique among the nodes. */
    async add(id: RequestId): Promise<string> {
      const name = randomToken();
      const stop = await shared.expectResponse(session(), name, (response) => {
        deliver(name, response as object);
      });
      waiting.set(name, { id, stop });
      return name;
    },
    /** Ends a request that the server cancels, and returns the id that the host knows. */
    cancel(id: unknown): string | undefined {
      const [name] = [...waiting].find(([, request]) => request.id === id) ?? [];
      if (name !== undefined) end(name);
      return name;
    },
    close(): void {
      for (const name of waiting.keys()) end(name);
    },
  };
};

/**
 * Makes a transport one of several with the same session, at several nodes. Requests to the host get ids that are
 * unique among the nodes, because the host sends its response to any of them.
 */
export const shareTransport = (
  transport: WebStandardStreamableHTTPServerTransport,
  needs: Needs,
): SharedTransport => {
  const { shared, session } = needs;
  const requests = createRequests(needs, (response) => transport.onmessage?.(response));
  /** Requests of the host that this node handles. */
  const running = new Set<string>();

  const rename = async (message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    if (isJSONRPCRequest(message)) return { ...message, id: await requests.add(message.id) };
    if (isJSONRPCResponse(message)) running.delete(toKey(message.id ?? ""));
    if (!isJSONRPCNotification(message) || message.method !== CANCELED) return message;
    const requestId = requests.cancel(message.params?.["requestId"]);
    return requestId === undefined
      ? message
      : { ...message, params: { ...message.params, requestId } };
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => send(await rename(message), options);

  const isForOthers = async (message: JSONRPCMessage): Promise<boolean> => {
    if (isJSONRPCRequest(message)) running.add(toKey(message.id));
    if (isJSONRPCResponse(message)) {
      const id = String(message.id);
      if (!requests.deliver(id, message)) await shared.passResponse(session(), id, message);
      return true;
    }
    if (!isJSONRPCNotification(message) || message.method !== CANCELED) return false;
    const requestId = toKey(message.params?.["requestId"] as RequestId);
    if (running.delete(requestId)) return false;
    await shared.passCancel(session(), requestId);
    return true;
  };

  const cancel = (requestId: string): void => {
    if (!running.delete(requestId)) return;
    const params = { requestId: JSON.parse(requestId) as RequestId };
    transport.onmessage?.({ jsonrpc: "2.0", method: CANCELED, params });
  };

  let unwatch: (() => void) | undefined;
  return {
    async route(messages) {
      unwatch ??= shared.watchCancels(session(), cancel);
      const own: JSONRPCMessage[] = [];
      for (const message of messages) {
        if (!(await isForOthers(message))) own.push(message);
      }
      return own;
    },
    close() {
      unwatch?.();
      requests.close();
    },
  };
};
