import {
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { errorFields, type Log } from "../../kit/log.ts";
import { runIn } from "./address.ts";
import { type Caller, checkScope, type RequestAuth } from "../caller.ts";
import { guardErrors } from "../results/error-guard.ts";
import { EXPORT_RUNS } from "../results/resource-uris.ts";
import type { RunsState, Watches, Watching } from "./watches.ts";

/** The name under which the platform's audit log has what is asked for subscribers. */
const TOOL = "resources.subscribe";

/** Reads the newest runs of a schedule with the caller's credentials. */
type RunReader = {
  readRuns(scheduleId: string, options: { tool: string; signal: AbortSignal }): Promise<RunsState>;
};

export type Subscribing = {
  /** Finds the caller of a request and the caller's way to the platform. */
  find: <T>(
    auth: RequestAuth,
    use: (reader: RunReader, caller: Caller) => Promise<T>,
  ) => Promise<T>;
  watches: Watches;
};

/** Watches what an address shows, for whoever asks; undefined where it never changes by itself. */
export const subscribe = async (
  { find, watches }: Subscribing,
  { http }: RequestAuth,
  uri: string,
  told: () => void,
): Promise<Watching | undefined> => {
  const address = runIn(uri);
  if (address === undefined) return undefined;
  // Not the whole request: a watch outlives it.
  const asking: RequestAuth = http === undefined ? {} : { http: { authInfo: http.authInfo } };
  const caller = await find(asking, async (_work, one) => {
    checkScope(one, "read");
    return one.id;
  });
  const read = (signal: AbortSignal) =>
    find(asking, ({ readRuns }) => readRuns(address.scheduleId, { tool: TOOL, signal }));
  return watches.begin(caller, address, { read, told });
};

/** Whether a server lasts longer than one request, so that its host can be told of something later. */
export const lasts = (context: McpRequestContext | undefined): boolean =>
  context === undefined || (context.era === "legacy" && context.requestInfo === undefined);

const unchanging = (uri: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Nobody is told of changes there. Subscribe to ${EXPORT_RUNS}{scheduleId} or ${EXPORT_RUNS}{scheduleId}/{runId}.`,
    { uri },
  );

/** Tells a host of 2025 of what it subscribes to, as long as its server lasts. */
export const serveSubscriptions = (
  server: Server,
  { log, ...subscribing }: Subscribing & { log: Log },
): void => {
  const open = new Map<string, Watching>();
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
          log.debug("mcp.not_told", errorFields(error));
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
