import {
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { parseRunUri } from "./address.ts";
import { type Caller, checkScope, type RequestAuth } from "../caller.ts";
import { guardErrors } from "../results/error-guard.ts";
import { EXPORT_RUNS } from "../results/resource-uris.ts";
import type { RunsState, Watches, Subscription } from "./watches.ts";

/** The tool name of these requests in the platform's audit log. */
const TOOL = "resources.subscribe";

/** Reads the newest runs of a schedule with the caller's credentials. */
type RunReader = {
  readRuns(scheduleId: string, options: { tool: string; signal: AbortSignal }): Promise<RunsState>;
};

export type SubscriptionContext = {
  /** Gives `use` the caller of a request and a reader with the caller's credentials. */
  find: <T>(
    auth: RequestAuth,
    use: (reader: RunReader, caller: Caller) => Promise<T>,
  ) => Promise<T>;
  watches: Watches;
};

/** Subscribes the caller of a request to a resource; undefined if the resource does not change by itself. */
export const subscribe = async (
  { find, watches }: SubscriptionContext,
  { http }: RequestAuth,
  uri: string,
  notify: () => void,
): Promise<Subscription | undefined> => {
  const address = parseRunUri(uri);
  if (address === undefined) return undefined;
  // The watch outlives the request, so it keeps the authentication alone.
  const auth: RequestAuth = http === undefined ? {} : { http: { authInfo: http.authInfo } };
  const caller = await find(auth, async (_reader, one) => {
    checkScope(one, "read");
    return one.id;
  });
  const read = (signal: AbortSignal) =>
    find(auth, ({ readRuns }) => readRuns(address.scheduleId, { tool: TOOL, signal }));
  return watches.subscribe(caller, address, { read, notify });
};

/** Whether a server lives longer than one request, so that it can notify its host later. */
export const isLongLived = (context: McpRequestContext | undefined): boolean =>
  context === undefined || (context.era === "legacy" && context.requestInfo === undefined);

export const cannotSubscribe = (uri: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `This resource has no change notifications. Subscribe to ${EXPORT_RUNS}{scheduleId} or ${EXPORT_RUNS}{scheduleId}/{runId}.`,
    { uri },
  );

/** Serves `resources/subscribe` for hosts of the protocol of 2025, as long as their server lives. */
export const serveSubscriptions = (
  server: Server,
  { log, ...subscriptions }: SubscriptionContext & { log: Log },
): void => {
  const open = new Map<string, Subscription>();
  let isClosed = false;
  const unsubscribe = (uri: string): void => {
    open.get(uri)?.end();
    open.delete(uri);
  };
  server.setRequestHandler(
    "resources/subscribe",
    guardErrors(log, "resources/subscribe", async ({ params: { uri } }, context: ServerContext) => {
      const subscription = await subscribe(subscriptions, context, uri, () => {
        server.sendResourceUpdated({ uri }).catch((error: unknown) => {
          log.debug("mcp.not_notified", toErrorFields(error));
        });
      });
      if (subscription === undefined) throw cannotSubscribe(uri);
      unsubscribe(uri);
      open.set(uri, subscription);
      try {
        await subscription.begun;
      } catch (error) {
        if (open.get(uri) === subscription) unsubscribe(uri);
        throw error;
      }
      if (isClosed) subscription.end();
      return {};
    }),
  );
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    unsubscribe(uri);
    return {};
  });
  const onClose = server.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has no other
  server.onclose = () => {
    onClose?.();
    isClosed = true;
    for (const subscription of open.values()) subscription.end();
    open.clear();
  };
};
