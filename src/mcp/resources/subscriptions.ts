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
  /** Finds the caller of a request and the caller's way to the platform. */
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
  const asking: RequestAuth = http === undefined ? {} : { http: { authInfo: http.authInfo } };
  const caller = await find(asking, async (_work, one) => {
    checkScope(one, "read");
    return one.id;
  });
  const read = (signal: AbortSignal) =>
    find(asking, ({ readRuns }) => readRuns(address.scheduleId, { tool: TOOL, signal }));
  return watches.begin(caller, address, { read, notify });
};

/** Whether a server lives longer than one request, so that it can notify its host later. */
export const isLongLived = (context: McpRequestContext | undefined): boolean =>
  context === undefined || (context.era === "legacy" && context.requestInfo === undefined);

const unchanging = (uri: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `This resource has no change notifications. Subscribe to ${EXPORT_RUNS}{scheduleId} or ${EXPORT_RUNS}{scheduleId}/{runId}.`,
    { uri },
  );

/** Serves `resources/subscribe` for hosts of the protocol of 2025, as long as their server lives. */
export const serveSubscriptions = (
  server: Server,
  { log, ...subscribing }: SubscriptionContext & { log: Log },
): void => {
  const open = new Map<string, Subscription>();
  let isOver = false;
  const leave = (uri: string): void => {
    open.get(uri)?.end();
    open.delete(uri);
  };
  server.setRequestHandler(
    "resources/subscribe",
    guardErrors(log, "resources/subscribe", async ({ params: { uri } }, context: ServerContext) => {
      const watching = await subscribe(subscribing, context, uri, () => {
        server.sendResourceUpdated({ uri }).catch((error: unknown) => {
          log.debug("mcp.not_told", toErrorFields(error));
        });
      });
      if (watching === undefined) throw unchanging(uri);
      leave(uri);
      open.set(uri, watching);
      try {
        await watching.begun;
      } catch (error) {
        if (open.get(uri) === watching) leave(uri);
        throw error;
      }
      if (isOver) watching.end();
      return {};
    }),
  );
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    leave(uri);
    return {};
  });
  const ended = server.onclose;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a server has no other
  server.onclose = () => {
    ended?.();
    isOver = true;
    for (const watching of open.values()) watching.end();
    open.clear();
  };
};
