import {
  CLIENT_CAPABILITIES_META_KEY,
  type ListToolsResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { MINUTE } from "../kit/clock.ts";
import { errorFields } from "../kit/log.ts";
import { instructions } from "../../tools/guide.ts";
import type { Tool } from "../../tools/tool.ts";
import { type CallTool, createCallTool } from "./call.ts";
import { cleanLine } from "./clean.ts";
import { createComplete } from "./complete.ts";
import { CONFIRM_FORM, type Host } from "./confirm.ts";
import { toolList } from "./list.ts";
import { nearest } from "./nearest.ts";
import type { Needs } from "./needs.ts";
import { createPrompts, type Prompts } from "./prompt-list.ts";
import { createResources, type Resources } from "./resources.ts";
import { activeTools } from "./settings.ts";

const NAME = "receivables-mcp";
const ANSWER_WITHIN_MS = 10 * MINUTE;
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

/** A bare `elicitation: {}` means forms; one that names other modes alone does not. */
const canAskForms = (capabilities: unknown): boolean => {
  if (typeof capabilities !== "object" || capabilities === null) return false;
  const { elicitation } = capabilities as { elicitation?: object };
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return Object.keys(elicitation).length === 0 || "form" in elicitation;
};

/** Asks while the call waits. A host that fails to ask has not been told yes. */
const askNow =
  ({ mcpReq }: ServerContext) =>
  async (question: string): Promise<unknown> => {
    const params = { message: question, requestedSchema: CONFIRM_FORM };
    try {
      return await mcpReq.send(
        { method: "elicitation/create", params },
        { timeout: ANSWER_WITHIN_MS, signal: mcpReq.signal },
      );
    } catch (error) {
      if (mcpReq.signal.aborted) throw error;
      return undefined;
    }
  };

const hostOf = (server: Server, context: ServerContext): Host => {
  const { envelope, inputResponses, requestState } = context.mcpReq;
  if (envelope !== undefined) {
    return canAskForms((envelope as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY])
      ? { asks: "by_round", responses: inputResponses, state: requestState() }
      : { asks: "never" };
  }
  return canAskForms(server.getClientCapabilities())
    ? { asks: "now", ask: askNow(context) }
    : { asks: "never" };
};

/** Everything that servers of one configuration share; a server itself is cheap and has no state. */
type Parts = {
  needs: Needs;
  tools: Map<string, Tool>;
  callTool: CallTool;
  resources: Resources;
  prompts: Prompts;
  complete: ReturnType<typeof createComplete>;
};

const partsOf = (needs: Needs): Parts => {
  const resources = createResources(needs);
  const prompts = createPrompts(needs.settings, resources);
  return {
    needs,
    tools: new Map(activeTools(needs.settings).map((tool) => [tool.name, tool])),
    callTool: createCallTool(needs),
    resources,
    prompts,
    complete: createComplete(needs, { prompts, resources }),
  };
};

const unknownTool = (name: string, tools: Map<string, Tool>): ProtocolError => {
  const near = nearest(name, [...tools.keys()]);
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  const shown = JSON.stringify(cleanLine(name, 80));
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}${hint}`);
};

/** What is not meant for the caller is logged and told as a fault of ours, without its text. */
const guarded =
  <R, A extends unknown[]>({ log }: Needs, method: string, handle: (...args: A) => Promise<R>) =>
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

const serveTools = (server: Server, { needs, tools, callTool }: Parts): void => {
  const { settings } = needs;
  server.setRequestHandler("tools/list", () => ({
    tools: [...toolList(settings)] as ListToolsResult["tools"],
  }));
  server.setRequestHandler(
    "tools/call",
    guarded(needs, "tools/call", async ({ params }, context: ServerContext) => {
      const tool = tools.get(params.name);
      if (tool === undefined) throw unknownTool(params.name, tools);
      const { signal } = context.mcpReq;
      const host = hostOf(server, context);
      return callTool({ tool, args: params.arguments ?? {}, host, signal });
    }),
  );
};

const serveRecords = (server: Server, { needs, resources, prompts, complete }: Parts): void => {
  server.setRequestHandler("resources/list", () => ({ resources: [...resources.list] }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...resources.templates],
  }));
  server.setRequestHandler(
    "resources/read",
    guarded(needs, "resources/read", ({ params }, { mcpReq }: ServerContext) =>
      resources.read(params.uri, { tool: "resources.read", signal: mcpReq.signal }),
    ),
  );
  server.setRequestHandler("prompts/list", () => ({ prompts: [...prompts.list] }));
  server.setRequestHandler(
    "prompts/get",
    guarded(needs, "prompts/get", ({ params }, { mcpReq }: ServerContext) =>
      prompts.get(params.name, params.arguments ?? {}, {
        tool: "prompts.get",
        signal: mcpReq.signal,
      }),
    ),
  );
  server.setRequestHandler(
    "completion/complete",
    guarded(needs, "completion/complete", ({ params }, { mcpReq }: ServerContext) =>
      complete(params, mcpReq.signal),
    ),
  );
};

/** How a transport gets its server: one per connection or request, in either protocol era, without side effects. */
export type BuildServer = (context?: McpRequestContext) => Server;

export const createBuildServer = (needs: Needs): BuildServer => {
  const parts = partsOf(needs);
  const info = { name: NAME, title: "Receivables", version: needs.version };
  return () => {
    // The low-level server, since the list is made once and not again from schemas at every request.
    const server = new Server(info, {
      capabilities: CAPABILITIES,
      instructions: instructions(needs.settings.readOnly),
      cacheHints: CACHE_HINTS,
    });
    serveTools(server, parts);
    serveRecords(server, parts);
    return server;
  };
};
