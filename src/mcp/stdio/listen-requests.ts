import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Log } from "../../kit/log.ts";
import {
  parseListenUris,
  watchResources,
  type ResourceListener,
} from "../resources/watch-resources.ts";
import type { MessageId } from "./handshake-messages.ts";
import type { SubscriptionContext } from "../resources/subscriptions.ts";

/**
 * Watches what a host of 2026 listens for over a wire. The SDK answers such requests itself and tells nobody of them,
 * so they are heard as they pass; `tell` gives a change to the server, by way of which the SDK finds who listens.
 */
export const watchListenRequests = (
  wire: Transport,
  subscribing: SubscriptionContext & { log: Log },
  tell: (uri: string) => void,
): void => {
  const pass = wire.onmessage;
  const open = new Map<MessageId, { uris: readonly string[]; hearing: ResourceListener }>();

  /** The first of several that listen to an address speaks for all: each would be told as often as there are. */
  const told = (id: MessageId, uri: string): void => {
    const [first] = [...open].find(([, { uris }]) => uris.includes(uri)) ?? [];
    if (first === id) tell(uri);
  };
  const leave = (id: MessageId): void => {
    open.get(id)?.hearing.end();
    open.delete(id);
  };

  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  wire.onmessage = (message, extra) => {
    const go = (): void => pass?.(message, extra);
    if (isJSONRPCRequest(message) && message.method === "subscriptions/listen") {
      const { id, params } = message;
      const uris = parseListenUris(params);
      leave(id);
      const hearing = watchResources(subscribing, {}, uris, (uri) => told(id, uri));
      open.set(id, { uris, hearing });
      void hearing.begun.then(go);
      return;
    }
    const id =
      isJSONRPCNotification(message) && message.method === "notifications/cancelled"
        ? (message.params?.["requestId"] as MessageId | undefined)
        : undefined;
    const hearing = id === undefined ? undefined : open.get(id)?.hearing;
    if (id === undefined || hearing === undefined) return go();
    leave(id);
    // Not before the request that it cancels.
    void hearing.begun.then(go);
  };
};
