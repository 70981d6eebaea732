import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { toErrorFields } from "../../kit/log.ts";
import type { MessageId } from "./handshake-messages.ts";
import type { ServerOptions } from "../server.ts";
import { createBuildServer, createLocalSubscriptions } from "../server.ts";
import { watchListenRequests } from "./listen-requests.ts";

const isAnswerTo = (message: JSONRPCMessage, id: MessageId): boolean =>
  "id" in message && message.id === id && !("method" in message);

/** Keeps back the answer to one request, which the host has had already. */
const withhold = (wire: Transport, id: MessageId): void => {
  const send = wire.send.bind(wire);
  wire.send = async (message, options) => {
    if (!isAnswerTo(message, id)) return send(message, options);
    wire.send = send;
    return undefined;
  };
};

/** The SDK's server over two streams; `gone` is called when the host has left. */
export const serveStreams = (
  front: ServerOptions,
  {
    input,
    output,
    answered,
  }: { input: Readable; output: Writable; answered: MessageId | undefined },
  gone: () => void,
): { close(): Promise<void> } => {
  const subscribing = createLocalSubscriptions(front);
  const build = createBuildServer(front, subscribing);
  let server: ReturnType<typeof build> | undefined;
  const wire = new StdioServerTransport(input, output);
  if (answered !== undefined) withhold(wire, answered);
  const report = (error: unknown): void => front.log.debug("mcp.stdio", toErrorFields(error));
  const handle = serveStdio(
    (context) => {
      server = build(context);
      return server;
    },
    { transport: wire, onerror: report },
  );
  watchListenRequests(wire, { ...subscribing, log: front.log }, (uri) => {
    server?.sendResourceUpdated({ uri }).catch(report);
  });
  // The entry has put its own ear on the wire; this one only listens after it.
  const ended = wire.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  wire.onclose = () => {
    subscribing.watches.close();
    ended?.();
    gone();
  };
  return handle;
};
