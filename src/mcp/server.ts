import {
  type ListToolsResult,
  type McpRequestContext,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { lazily } from "../kit/lazily.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { type Face, faceOf } from "./face.ts";
import type { Front } from "./needs.ts";
import type { Work } from "./work.ts";

const cacheHints = ({ hint }: Face) => ({
  "tools/list": hint,
  "prompts/list": hint,
  "resources/list": hint,
  "resources/templates/list": hint,
  "server/discover": hint,
});

/** Everything that servers of one configuration share; a server itself is cheap and has no state. */
type Parts = { log: Log; face: Face; work: () => Promise<Work> };

const partsOf = (front: Front): Parts => ({
  log: front.log,
  face: faceOf(front),
  work: lazily(async () => {
    const [{ createWork }, needs] = await Promise.all([import("./work.ts"), front.open()]);
    return createWork(needs);
  }),
});

/** What is not meant for the caller is logged and told as a fault of ours, without its text. */
const guarded =
  <R, A extends unknown[]>(log: Log, method: string, handle: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    try {
      return await handle(...args);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      log.error("mcp.failed", { method, ...errorFields(error) });
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "Something went wrong in this server.",
      );
    }
  };

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
const serveWork = (server: Server, { log, work }: Parts): void => {
  server.setRequestHandler(
    "tools/call",
    guarded(log, "tools/call", async ({ params }, context: ServerContext) => {
      const { callTool, findTool, hostOf, progressOf } = await work();
      return callTool({
        tool: findTool(params.name),
        args: params.arguments ?? {},
        host: hostOf(server, context),
        signal: context.mcpReq.signal,
        progress: progressOf(context),
      });
    }),
  );
  server.setRequestHandler(
    "resources/read",
    guarded(log, "resources/read", async ({ params }, { mcpReq }: ServerContext) =>
      (await work()).readResource(params.uri, { tool: "resources.read", signal: mcpReq.signal }),
    ),
  );
  server.setRequestHandler(
    "prompts/get",
    guarded(log, "prompts/get", async ({ params }, { mcpReq }: ServerContext) => {
      const asked = { tool: "prompts.get", signal: mcpReq.signal };
      const { getPrompt, readResource } = await work();
      return getPrompt(params.name, params.arguments ?? {}, (uri) => readResource(uri, asked));
    }),
  );
  server.setRequestHandler(
    "completion/complete",
    guarded(log, "completion/complete", async ({ params }, { mcpReq }: ServerContext) =>
      (await work()).complete(params, mcpReq.signal),
    ),
  );
};

/** How a transport gets its server: one per connection or request, in either protocol era, without side effects. */
export type BuildServer = (context?: McpRequestContext) => Server | McpServer;

export const createBuildServer = (front: Front): BuildServer => {
  const parts = partsOf(front);
  const { info, capabilities, instructions } = parts.face;
  return () => {
    // The low-level server, since the list is made once and not again from schemas at every request.
    const server = new Server(info, {
      capabilities,
      instructions,
      cacheHints: cacheHints(parts.face),
    });
    serveLists(server, parts);
    serveWork(server, parts);
    return server;
  };
};
