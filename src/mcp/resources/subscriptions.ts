import {
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { MAX_SHOWN_URI, parseRunUri } from "./address.ts";
import { type Caller, checkScope, type RequestAuth } from "../caller.ts";
import { guardErrors } from "../results/protocol-errors.ts";
import { EXPORT_RUNS } from "../results/resource-uris.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { type RunsState, type Watches, type Subscription, WATCH_LIMITS } from "./watches.ts";

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
    { uri: sanitizeLine(uri, MAX_SHOWN_URI) },
  );

/** @throws {ProtocolError} where a session has as many subscriptions as it may have, and none to this resource */
export const checkSubscriptions = (uris: readonly string[], uri: string): void => {
  if (uris.length < WATCH_LIMITS.max || uris.includes(uri)) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    `A session has at most ${WATCH_LIMITS.max} subscriptions; unsubscribe from one first.`,
  );
};

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
      checkSubscriptions([...open.keys()], uri);
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

/** Returns the URIs in the parameters of a `subscriptions/listen` request. */
export const parseListenUris = (params: unknown): string[] => {
  const { notifications } = (params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown };
  };
  const uris = notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? [...new Set(uris.filter((uri) => typeof uri === "string"))] : [];
};

/** The watches of one `subscriptions/listen` request. */
export type ResourceListener = {
  /** Resolves after the first poll of each watch; a failed poll is logged and the watch goes on. */
  begun: Promise<void>;
  end(): void;
};

/** Watches several resources. Resources that do not change by themselves are accepted and cause no notification. */
export const watchResources = (
  { log, ...context }: SubscriptionContext & { log: Log },
  auth: RequestAuth,
  uris: readonly string[],
  notify: (uri: string) => void,
): ResourceListener => {
  const open = new Set<Subscription>();
  let isEnded = false;
  const watch = async (uri: string): Promise<void> => {
    const subscription = await subscribe(context, auth, uri, () => notify(uri));
    if (subscription === undefined) return;
    if (isEnded) return subscription.end();
    open.add(subscription);
    await subscription.begun;
  };
  const watchAll = async (): Promise<void> => {
    for (const outcome of await Promise.allSettled(uris.map(watch))) {
      if (outcome.status === "rejected") log.info("watch.refused", toErrorFields(outcome.reason));
    }
  };
  return {
    begun: watchAll(),
    end() {
      isEnded = true;
      for (const subscription of open) subscription.end();
      open.clear();
    },
  };
};
