import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Log } from "../../kit/log.ts";
import type { SubscriptionContext } from "../resources/subscriptions.ts";
import {
  parseListenUris,
  type ResourceListener,
  watchResources,
} from "../resources/watch-resources.ts";
import type { MessageId } from "./handshake-messages.ts";

const findCancelled = (message: JSONRPCMessage): MessageId | undefined =>
  isJSONRPCNotification(message) && message.method === "notifications/cancelled"
    ? (message.params?.["requestId"] as MessageId | undefined)
    : undefined;

/**
 * Watches the resources of `subscriptions/listen` requests. The SDK handles these requests without a callback, so they
 * are read from the transport. `notify` passes a change to the server, whose SDK finds the requests that listen.
 */
export const watchListenRequests = (
  transport: Transport,
  subscriptions: SubscriptionContext & { log: Log },
  notify: (uri: string) => void,
): void => {
  const receive = transport.onmessage;
  const open = new Map<MessageId, { uris: readonly string[]; listener: ResourceListener }>();

  /** Notifies once for all requests that listen to a resource, because the SDK notifies each of them. */
  const notifyOnce = (id: MessageId, uri: string): void => {
    const [first] = [...open].find(([, { uris }]) => uris.includes(uri)) ?? [];
    if (first === id) notify(uri);
  };
  const end = (id: MessageId): void => {
    open.get(id)?.listener.end();
    open.delete(id);
  };

  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  transport.onmessage = (message, extra) => {
    const forward = (): void => receive?.(message, extra);
    if (isJSONRPCRequest(message) && message.method === "subscriptions/listen") {
      const { id, params } = message;
      const uris = parseListenUris(params);
      end(id);
      const listener = watchResources(subscriptions, {}, uris, (uri) => notifyOnce(id, uri));
      open.set(id, { uris, listener });
      void listener.begun.then(forward);
      return;
    }
    const id = findCancelled(message);
    const listener = id === undefined ? undefined : open.get(id)?.listener;
    if (id === undefined || listener === undefined) return forward();
    end(id);
    // The request itself is forwarded after its first poll; its cancellation must follow it.
    void listener.begun.then(forward);
  };
};
