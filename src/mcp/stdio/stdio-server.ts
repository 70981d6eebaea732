import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  type Transport,
  isJSONRPCNotification,
  isJSONRPCRequest,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { createBuildServer, createLocalSubscriptions, type ServerOptions } from "../server.ts";
import { type MessageId, restoreId } from "../message-ids.ts";
import {
  type SubscriptionContext,
  parseListenUris,
  type ResourceListener,
  watchResources,
} from "../resources/subscriptions.ts";

const findCancelled = (message: JSONRPCMessage): MessageId | undefined =>
  isJSONRPCNotification(message) && message.method === "notifications/cancelled"
    ? (message.params?.["requestId"] as MessageId | undefined)
    : undefined;

/**
 * Watches the resources of `subscriptions/listen` requests. The SDK handles these requests without a callback, so they
 * are read from the transport. `notify` passes a change to the server, whose SDK finds the requests that listen.
 */
const watchListenRequests = (
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

const isResponseTo = (message: JSONRPCMessage, id: MessageId): boolean =>
  "id" in message && message.id === id && !("method" in message);

/** Drops the response to one request, which the handshake has answered already. */
const dropResponse = (transport: Transport, id: MessageId): void => {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!isResponseTo(message, id)) return send(message, options);
    transport.send = send;
    return undefined;
  };
};

/** Reports the id of each answer that is sent, and writes ids as the host wrote them. */
const reportAnswers = (transport: Transport, onAnswered: (id: MessageId) => void): void => {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!("id" in message) || "method" in message || message.id === undefined) {
      return send(message, options);
    }
    const { id } = message;
    await send({ ...message, id: restoreId(id) as MessageId }, options);
    onAnswered(id);
  };
};

type Streams = {
  input: Readable;
  output: Writable;
  /** The id of the `initialize` request that was answered already. */
  answered: MessageId | undefined;
  /** Called after each answer is written. */
  onAnswered: (id: MessageId) => void;
};

/** Serves the SDK's server over two streams; calls `onClose` when the host has disconnected. */
export const serveStreams = (
  serverOptions: ServerOptions,
  { input, output, answered, onAnswered }: Streams,
  onClose: () => void,
): { close(): Promise<void> } => {
  const { log } = serverOptions;
  const subscriptions = createLocalSubscriptions(serverOptions);
  const build = createBuildServer(serverOptions, subscriptions);
  let server: ReturnType<typeof build> | undefined;
  const transport = new StdioServerTransport(input, output);
  reportAnswers(transport, onAnswered);
  if (answered !== undefined) dropResponse(transport, answered);
  const report = (error: unknown): void => log.debug("mcp.stdio", toErrorFields(error));
  const handle = serveStdio(
    (context) => {
      server = build(context);
      return server;
    },
    { transport, onerror: report },
  );
  watchListenRequests(transport, { ...subscriptions, log }, (uri) => {
    server?.sendResourceUpdated({ uri }).catch(report);
  });
  // `serveStdio` has set its own handler, which still has to run.
  const closeServer = transport.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  transport.onclose = () => {
    subscriptions.watches.close();
    closeServer?.();
    onClose();
  };
  return handle;
};
