import {
  type ListToolsResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { MINUTE } from "../kit/clock.ts";
import { lazily } from "../kit/lazily.ts";
import { errorFields, type Log } from "../kit/log.ts";
import { instructions } from "../../tools/guide.ts";
import { toolList } from "./list.ts";
import type { Front } from "./needs.ts";
import { createPrompts, type Prompts } from "./prompt-list.ts";
import { resourceList, resourceTemplates } from "./resource-list.ts";
import type { Work } from "./work.ts";

const NAME = "receivables-mcp";
const LIST_HINT = { ttlMs: 5 * MINUTE, cacheScope: "public" as const };

// Lists follow from settings alone, so what one caller was given holds for every other.
const CACHE_HINTS = {
  "tools/list": LIST_HINT,
  "prompts/list": LIST_HINT,
  "resources/list": LIST_HINT,
  "resources/templates/list": LIST_HINT,
  "server/discover": LIST_HINT,
};

const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {} };

// People's answers are checked where they are asked for, and nothing else would use the SDK's validator.
const NO_VALIDATOR = {
  getValidator(): never {
    throw new TypeError("nothing here is validated against a JSON Schema");
  },
};

/** Everything that servers of one configuration share; a server itself is cheap and has no state. */
type Parts = Front & { prompts: Prompts; work: () => Promise<Work> };

const partsOf = (front: Front): Parts => ({
  ...front,
  prompts: createPrompts(front.settings),
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
const serveLists = (server: Server, { settings, prompts }: Parts): void => {
  server.setRequestHandler("tools/list", () => ({
    tools: [...toolList(settings)] as ListToolsResult["tools"],
  }));
  server.setRequestHandler("resources/list", () => ({ resources: resourceList(settings) }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: resourceTemplates(settings),
  }));
  server.setRequestHandler("prompts/list", () => ({ prompts: [...prompts.list] }));
};

/** What needs the platform; the first such request loads the code for it. */
const serveWork = (server: Server, { log, prompts, work }: Parts): void => {
  server.setRequestHandler(
    "tools/call",
    guarded(log, "tools/call", async ({ params }, context: ServerContext) => {
      const { callTool, findTool, hostOf } = await work();
      return callTool({
        tool: findTool(params.name),
        args: params.arguments ?? {},
        host: hostOf(server, context),
        signal: context.mcpReq.signal,
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
    guarded(log, "prompts/get", ({ params }, { mcpReq }: ServerContext) => {
      const asked = { tool: "prompts.get", signal: mcpReq.signal };
      return prompts.get(params.name, params.arguments ?? {}, async (uri) =>
        (await work()).readResource(uri, asked),
      );
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
export type BuildServer = (context?: McpRequestContext) => Server;

export const createBuildServer = (front: Front): BuildServer => {
  const parts = partsOf(front);
  const info = { name: NAME, title: "Receivables", version: front.version };
  return () => {
    // The low-level server, since the list is made once and not again from schemas at every request.
    const server = new Server(info, {
      capabilities: CAPABILITIES,
      instructions: instructions(front.settings.readOnly),
      cacheHints: CACHE_HINTS,
      jsonSchemaValidator: NO_VALIDATOR,
    });
    serveLists(server, parts);
    serveWork(server, parts);
    return server;
  };
};
