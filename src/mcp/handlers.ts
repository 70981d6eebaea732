import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Tool } from "../../tools/tool.ts";
import { activeTools } from "./tools/active-tools.ts";
import { createCallTool } from "./tools/call.ts";
import { createDownload } from "./tools/file-download.ts";
import type { CallTool } from "./tools/tool-call.ts";
import { activePrompts } from "./prompts/prompt-list.ts";
import { sanitizeLine } from "./results/sanitize.ts";
import { createComplete } from "./resources/complete.ts";
import { createReadState } from "./resources/export-run-resources.ts";
import type { RequestAuth, Caller, Scope } from "./caller.ts";
import { clientOf, hostOf, opensOf, progressOf } from "./tools/host.ts";
import { findNearest } from "../kit/nearest.ts";
import type { ToolContext } from "./tools/tool-context.ts";
import { createGetPrompt, type GetPrompt } from "./prompts/get-prompt.ts";
import { createReadResource, type ReadResource } from "./resources/resources.ts";
import { scopeOfTool } from "./tools/scope.ts";

/** Handlers of the requests that call the platform. Loaded, with contract and schemas, at the first such request. */
export type Handlers = {
  findTool(name: string): Tool;
  scopeOf(tool: Tool): Scope;
  callTool: CallTool;
  clientOf: typeof clientOf;
  hostOf: typeof hostOf;
  opensOf: typeof opensOf;
  progressOf: typeof progressOf;
  readResource: ReadResource;
  readRuns: ReturnType<typeof createReadState>;
  getPrompt: GetPrompt;
  complete: ReturnType<typeof createComplete>;
};

/** Calls `use` with the handlers of the request's caller. */
export type FindHandlers = <T>(
  asking: RequestAuth,
  use: (work: Handlers, caller: Caller) => Promise<T>,
) => Promise<T>;

const unknownTool = (name: string, tools: ReadonlyMap<string, Tool>): ProtocolError => {
  const near = findNearest(name, [...tools.keys()]);
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  const shown = JSON.stringify(sanitizeLine(name, 80));
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}${hint}`);
};

export const createHandlers = (needs: ToolContext): Handlers => {
  const tools = new Map(activeTools(needs.settings).map((tool) => [tool.name, tool]));
  return {
    findTool(name) {
      const tool = tools.get(name);
      if (tool === undefined) throw unknownTool(name, tools);
      return tool;
    },
    scopeOf: scopeOfTool,
    callTool: createCallTool(needs),
    clientOf,
    hostOf,
    opensOf,
    progressOf,
    readResource: createReadResource(needs, createDownload(needs).read),
    readRuns: createReadState(needs),
    getPrompt: createGetPrompt(needs),
    complete: createComplete(needs, activePrompts(needs.settings)),
  };
};
