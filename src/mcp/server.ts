import {
  type ListToolsResult,
  type McpRequestContext,
  type McpServer,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { systemClock } from "../kit/clock.ts";
import { lazily } from "../kit/lazily.ts";
import type { Log } from "../kit/log.ts";
import { systemWait } from "../kit/wait.ts";
import { type Face, faceOf } from "./face.ts";
import type { Front } from "./needs.ts";
import { checkScope, ownCaller } from "./http/gate.ts";
import { guarded } from "./guarded.ts";
import { lasts, serveSubscriptions, type Subscribing } from "./resources/subscriptions.ts";
import { createWatches } from "./resources/watches.ts";
import type { Find, Work } from "./work.ts";

const cacheHints = ({ hint }: Face) => ({
  "tools/list": hint,
  "prompts/list": hint,
  "resources/list": hint,
  "resources/templates/list": hint,
  "server/discover": hint,
});

/** Everything that servers of one configuration share; a server itself is cheap and has no state. */
type Parts = { log: Log; face: Face; find: Find };

/** One caller, whoever asks: for a server that nobody but its own host reaches. */
const alone = ({ open }: Pick<Front, "open">): Find => {
  const caller = ownCaller("default");
  const work = lazily(async (): Promise<Work> => {
    const [{ createWork }, needs] = await Promise.all([import("./work.ts"), open(caller)]);
    return createWork(needs);
  });
  return async (_context, use) => use(await work(), caller);
};

/** What subscriptions of servers that nobody but their own host reaches are made with. */
export const ofOneHost = (front: Front): Subscribing => ({
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
  const reading = <T>(context: ServerContext, read: (work: Work) => Promise<T>): Promise<T> =>
    find(context, async (work, caller) => {
      checkScope(caller, "read");
      return read(work);
    });
  server.setRequestHandler(
    "tools/call",
    guarded(log, "tools/call", ({ params }, context: ServerContext) =>
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
    guarded(log, "resources/read", ({ params }, context: ServerContext) =>
      reading(context, ({ readResource }) =>
        readResource(params.uri, { tool: "resources.read", signal: context.mcpReq.signal }),
      ),
    ),
  );
  server.setRequestHandler(
    "prompts/get",
    guarded(log, "prompts/get", ({ params }, context: ServerContext) =>
      reading(context, ({ getPrompt, readResource }) => {
        const asked = { tool: "prompts.get", signal: context.mcpReq.signal };
        return getPrompt(params.name, params.arguments ?? {}, (uri) => readResource(uri, asked));
      }),
    ),
  );
  server.setRequestHandler(
    "completion/complete",
    guarded(log, "completion/complete", ({ params }, context: ServerContext) =>
      reading(context, ({ complete }) => complete(params, context.mcpReq.signal)),
    ),
  );
};

/** How a transport gets its server: one per connection or request, in either protocol era, without side effects. */
export type BuildServer = (context?: McpRequestContext) => Server | McpServer;

export const createBuildServer = (
  front: Front,
  { find, watches }: Subscribing = ofOneHost(front),
): ((context?: McpRequestContext) => Server) => {
  const parts = { log: front.log, face: faceOf(front), find };
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
    if (capabilities.resources.subscribe === true && lasts(context)) {
      serveSubscriptions(server, { find, watches, log: front.log });
    }
    return server;
  };
};
