import {
  createMcpHandler,
  type McpHttpHandler,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { errorFields, type Log } from "../../kit/log.ts";
import type { CallerAuthInfo } from "../caller.ts";
import { parseListenUris, watchResources } from "../resources/watch-resources.ts";
import type { BuildServer } from "../server.ts";
import type { SubscriptionContext } from "../resources/subscriptions.ts";

/** How many requests to listen each caller may have open. */
const MOST = 50;

export type ListenHandler = {
  /** Answers a request of 2026 to listen, by a stream that lasts until either side ends it; its body has been read. */
  answer(request: Request, by: CallerAuthInfo, body: unknown): Promise<Response>;
  close(): Promise<void>;
};

const paramsIn = (said: unknown): unknown =>
  typeof said === "object" && said !== null && "params" in said ? said.params : undefined;

const idIn = (said: unknown): unknown =>
  typeof said === "object" && said !== null && "id" in said ? said.id : null;

const refused = (said: unknown): Response =>
  Response.json({
    jsonrpc: "2.0",
    id: idIn(said),
    error: { code: -32_603, message: `At most ${MOST} requests to listen can be open at a time.` },
  });

/** Hosts of 2026 that listen over HTTP: each hears of what its own caller may see, and of nothing else. */
export const createListenHandler = ({
  build,
  log,
  ...subscribing
}: SubscriptionContext & { build: BuildServer; log: Log }): ListenHandler => {
  const open = new Map<McpHttpHandler, string>();

  const openBy = (caller: string): number =>
    [...open.values()].filter((one) => one === caller).length;

  // The SDK tells everybody who listens to a bus of every event on it, so each request has a bus of its own.
  const listen = async (request: Request, authInfo: CallerAuthInfo, parsedBody: unknown) => {
    let tell: ((event: ServerEvent) => void) | undefined;
    const { begun, end } = watchResources(
      { ...subscribing, log },
      { http: { authInfo } },
      parseListenUris(paramsIn(parsedBody)),
      (uri) => tell?.({ kind: "resource_updated", uri }),
    );
    const leave = (): void => {
      tell = undefined;
      end();
      open.delete(handler);
    };
    const bus: ServerEventBus = {
      publish() {},
      subscribe(listener) {
        tell = listener;
        return leave;
      },
    };
    const handler = createMcpHandler((context) => build(context), {
      bus,
      onerror: (error) => {
        log.debug("mcp.http", errorFields(error));
      },
    });
    open.set(handler, authInfo.extra.caller.id);
    try {
      await begun;
      return await handler.fetch(request, { authInfo, parsedBody });
    } finally {
      // It may have been refused, or want to hear of nothing that changes.
      if (tell === undefined) leave();
    }
  };

  return {
    answer: async (request, by, body) =>
      openBy(by.extra.caller.id) < MOST ? listen(request, by, body) : refused(body),
    async close() {
      await Promise.all([...open.keys()].map((handler) => handler.close()));
    },
  };
};
