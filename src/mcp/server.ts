import {
  type ListToolsResult,
  type McpRequestContext,
  type McpServer,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { systemClock } from "../kit/clock.ts";
import { createLazy } from "../kit/lazily.ts";
import type { Log } from "../kit/log.ts";
import { systemWait } from "../kit/wait.ts";
import { type ServerInfo, createServerInfo } from "./server-info.ts";
import type { ToolContext } from "./tools/tool-context.ts";
import { type Caller, checkScope, createOwnCaller, type Settings } from "./caller.ts";
import { guardErrors } from "./results/error-guard.ts";
import {
  isLongLived,
  serveSubscriptions,
  type SubscriptionContext,
} from "./resources/subscriptions.ts";
import { createWatches } from "./resources/watches.ts";
import type { FindHandlers, Handlers } from "./handlers.ts";

const cacheHints = ({ hint }: ServerInfo) => ({
  "tools/list": hint,
  "prompts/list": hint,
  "resources/list": hint,
  "resources/templates/list": hint,
  "server/discover": hint,
});

/** Everything that servers of one configuration share; a server itself is cheap and has no state. */
type Parts = { log: Log; face: ServerInfo; find: FindHandlers };

/** One caller, whoever asks: for a server that nobody but its own host reaches. */
const alone = ({ open }: Pick<ServerOptions, "open">): FindHandlers => {
  const caller = createOwnCaller("default");
  const work = createLazy(async (): Promise<Handlers> => {
    const [{ createHandlers: createWork }, needs] = await Promise.all([
      import("./handlers.ts"),
      open(caller),
    ]);
    return createWork(needs);
  });
  return async (_context, use) => use(await work(), caller);
};

/** Access to callers' handlers, and the watches behind resource subscriptions. */
export type ServerSubscriptions = SubscriptionContext & { find: FindHandlers };

/** What subscriptions of servers that nobody but their own host reaches are made with. */
export const createLocalSubscriptions = (front: ServerOptions): ServerSubscriptions => ({
  find: alone(front),
  watches: createWatches({ now: systemClock, wait: systemWait, log: front.log }),
});

/** What settings alone decide: a host that has just started this process has it at once. */
const serveLists = (server: Server, { face }: Parts): void => {
  server.setRequestHandler("tools/list", () => ({
    tools: [...face.tools] as ListToolsResult["tools"],
  }));
  server.setRequestHandler("resources/list", () => ({ resources: [...face.resources] }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...face.resourceTemplates],
  }));
  server.setRequestHandler("prompts/list", () => ({ prompts: [...face.prompts] }));
};

/** What needs the platform; the first such request loads the code for it. */
const serveWork = (server: Server, { log, find }: Parts): void => {
  const reading = <T>(context: ServerContext, read: (work: Handlers) => Promise<T>): Promise<T> =>
    find(context, async (work, caller) => {
      checkScope(caller, "read");
      return read(work);
    });
  server.setRequestHandler(
    "tools/call",
    guardErrors(log, "tools/call", ({ params }, context: ServerContext) =>
      find(
        context,
        async ({ callTool, clientOf, findTool, hostOf, opensOf, progressOf, scopeOf }, caller) => {
          const tool = findTool(params.name);
          checkScope(caller, scopeOf(tool));
          return callTool({
            tool,
            args: params.arguments ?? {},
            client: clientOf(server, context, caller),
            host: hostOf(server, context),
            opens: opensOf(server, context),
            signal: context.mcpReq.signal,
            progress: progressOf(context),
          });
        },
      ),
    ),
  );
  server.setRequestHandler(
    "resources/read",
    guardErrors(log, "resources/read", ({ params }, context: ServerContext) =>
      reading(context, ({ readResource }) =>
        readResource(params.uri, { tool: "resources.read", signal: context.mcpReq.signal }),
      ),
    ),
  );
  server.setRequestHandler(
    "prompts/get",
    guardErrors(log, "prompts/get", ({ params }, context: ServerContext) =>
      reading(context, ({ getPrompt, readResource }) => {
        const asked = { tool: "prompts.get", signal: context.mcpReq.signal };
        return getPrompt(params.name, params.arguments ?? {}, (uri) => readResource(uri, asked));
      }),
    ),
  );
  server.setRequestHandler(
    "completion/complete",
    guardErrors(log, "completion/complete", ({ params }, context: ServerContext) =>
      reading(context, ({ complete }) => complete(params, context.mcpReq.signal)),
    ),
  );
};

/** What a server is built from: its lists follow from `settings`, everything else opens a caller's context. */
export type ServerOptions = {
  settings: Settings;
  version: string;
  log: Log;
  /** Opens the context of a caller, at the caller's first request that needs the platform, and again after it was closed. */
  open: (caller: Caller) => Promise<ToolContext>;
  /** Returns a value that changes when the caller's profile or credentials change; absent if they never do. */
  stampOf?: (caller: Caller) => Promise<string>;
};

/** How a transport gets its server: one per connection or request, in either protocol era, without side effects. */
export type BuildServer = (context?: McpRequestContext) => Server | McpServer;

export const createBuildServer = (
  front: ServerOptions,
  { find, watches }: ServerSubscriptions = createLocalSubscriptions(front),
): ((context?: McpRequestContext) => Server) => {
  const parts = { log: front.log, face: createServerInfo(front), find };
  const { info, capabilities, instructions } = parts.face;
  return (context) => {
    // The low-level server, since the list is made once and not again from schemas at every request.
    const server = new Server(info, {
      capabilities,
      instructions,
      cacheHints: cacheHints(parts.face),
    });
    serveLists(server, parts);
    serveWork(server, parts);
    if (capabilities.resources.subscribe === true && isLongLived(context)) {
      serveSubscriptions(server, { find, watches, log: front.log });
    }
    return server;
  };
};
