import {
  createMcpHandler,
  type McpHttpHandler,
  ProtocolErrorCode,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { isRecord } from "../../kit/json.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import type { CallerAuthInfo } from "../caller.ts";
import {
  type SubscriptionContext,
  parseListenUris,
  watchResources,
} from "../resources/subscriptions.ts";
import { WATCH_LIMITS } from "../resources/watches.ts";
import type { RightsSource } from "../lists.ts";
import type { BuildServer } from "../server.ts";

const MAX_PER_CALLER = 50;

export type ListenHandler = {
  /** Responds to `subscriptions/listen` with a stream of changes, which lasts until either side closes it. */
  handle(request: Request, authInfo: CallerAuthInfo, parsedBody: unknown): Promise<Response>;
  close(): Promise<void>;
};

type ListenNeeds = SubscriptionContext & { build: BuildServer; rights: RightsSource; log: Log };

type ListenContext = ListenNeeds & {
  /** The open streams with their callers' ids. */
  open: Map<McpHttpHandler, string>;
};

const refuse = (body: unknown, code: number, message: string): Response =>
  Response.json({
    jsonrpc: "2.0",
    id: isRecord(body) ? (body["id"] ?? null) : null,
    error: { code, message },
  });

/** The lists that follow from the rights of a caller. */
const LIST_CHANGES: readonly ServerEvent[] = [
  { kind: "tools_list_changed" },
  { kind: "resources_list_changed" },
  { kind: "prompts_list_changed" },
];

const openStream = async (
  { build, rights, log, open, ...subscriptions }: ListenContext,
  request: Request,
  authInfo: CallerAuthInfo,
  parsedBody: unknown,
): Promise<Response> => {
  const { params } = (parsedBody ?? {}) as { params?: unknown };
  const uris = parseListenUris(params);
  if (uris.length > WATCH_LIMITS.max) {
    const message = `A request to listen names at most ${WATCH_LIMITS.max} resources.`;
    return refuse(parsedBody, ProtocolErrorCode.InvalidParams, message);
  }
  let notify: ((event: ServerEvent) => void) | undefined;
  const { begun, end } = watchResources(
    { ...subscriptions, log },
    { http: { authInfo } },
    uris,
    (uri) => notify?.({ kind: "resource_updated", uri }),
  );
  const unfollow = rights.onChange({ http: { authInfo } }, () => {
    for (const event of LIST_CHANGES) notify?.(event);
  });
  const release = (): void => {
    notify = undefined;
    unfollow();
    end();
    open.delete(handler);
  };
  // The SDK sends each event of a bus to all of its listeners, so that each stream needs a bus of its own.
  const bus: ServerEventBus = {
    publish() {},
    subscribe(listener) {
      notify = listener;
      return release;
    },
  };
  const handler = createMcpHandler(build, {
    bus,
    onerror: (error) => log.debug("mcp.http", toErrorFields(error)),
  });
  open.set(handler, authInfo.extra.caller.id);
  try {
    await begun;
    return await handler.fetch(request, { authInfo, parsedBody });
  } finally {
    // The SDK refused the request, or the request names no resource that changes.
    if (notify === undefined) release();
  }
};

/** Creates the handler of `subscriptions/listen` for hosts of 2026. */
export const createListenHandler = (needs: ListenNeeds): ListenHandler => {
  const context: ListenContext = { ...needs, open: new Map() };
  return {
    async handle(request, authInfo, parsedBody) {
      const { id } = authInfo.extra.caller;
      const count = [...context.open.values()].filter((caller) => caller === id).length;
      if (count < MAX_PER_CALLER) return openStream(context, request, authInfo, parsedBody);
      const message = `At most ${MAX_PER_CALLER} requests to listen can be open at a time.`;
      return refuse(parsedBody, ProtocolErrorCode.InternalError, message);
    },
    async close() {
      await Promise.all([...context.open.keys()].map((handler) => handler.close()));
    },
  };
};
