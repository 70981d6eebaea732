import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { toErrorFields } from "../../kit/log.ts";
import { createBuildServer, createLocalSubscriptions, type ServerOptions } from "../server.ts";
import type { MessageId } from "./handshake-messages.ts";
import { watchListenRequests } from "./listen-requests.ts";

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

type Streams = {
  input: Readable;
  output: Writable;
  /** The id of the `initialize` request that was answered already. */
  answered: MessageId | undefined;
};

/** Serves the SDK's server over two streams; calls `onClose` when the host has disconnected. */
export const serveStreams = (
  serverOptions: ServerOptions,
  { input, output, answered }: Streams,
  onClose: () => void,
): { close(): Promise<void> } => {
  const { log } = serverOptions;
  const subscriptions = createLocalSubscriptions(serverOptions);
  const build = createBuildServer(serverOptions, subscriptions);
  let server: ReturnType<typeof build> | undefined;
  const transport = new StdioServerTransport(input, output);
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
