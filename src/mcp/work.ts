import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Tool } from "../../tools/tool.ts";
import { activeTools } from "./calls/active-tools.ts";
import { type CallTool, createCallTool } from "./calls/call.ts";
import { cleanLine } from "./answer/clean.ts";
import { createComplete } from "./resources/complete.ts";
import { createReadState } from "./resources/export-run-resources.ts";
import type { Asking, Caller, Scope } from "./http/gate.ts";
import { clientOf, hostOf, opensOf, progressOf } from "./host.ts";
import { nearest } from "../kit/nearest.ts";
import type { Needs } from "./needs.ts";
import { createGetPrompt, type GetPrompt } from "./prompts.ts";
import { createReadResource, type ReadResource } from "./resources/resources.ts";
import { scopeOf } from "./http/scopes.ts";

/** Everything that calls the platform. Loaded, with contract and schemas, when a host first asks for it. */
export type Work = {
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

/** Gives a request what works for its caller. */
export type Find = <T>(
  asking: Asking,
  use: (work: Work, caller: Caller) => Promise<T>,
) => Promise<T>;

const unknownTool = (name: string, tools: ReadonlyMap<string, Tool>): ProtocolError => {
  const near = nearest(name, [...tools.keys()]);
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  const shown = JSON.stringify(cleanLine(name, 80));
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}${hint}`);
};

export const createWork = (needs: Needs): Work => {
  const tools = new Map(activeTools(needs.settings).map((tool) => [tool.name, tool]));
  return {
    findTool(name) {
      const tool = tools.get(name);
      if (tool === undefined) throw unknownTool(name, tools);
      return tool;
    },
    scopeOf: ({ operation }) => scopeOf(operation),
    callTool: createCallTool(needs),
    clientOf,
    hostOf,
    opensOf,
    progressOf,
    readResource: createReadResource(needs),
    readRuns: createReadState(needs),
    getPrompt: createGetPrompt(needs),
    complete: createComplete(needs),
  };
};
