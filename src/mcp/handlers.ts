import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { buildGuide } from "../../tools/guide.ts";
import type { Tool } from "../../tools/tool.ts";
import { type Caller, checkScope, type RequestAuth } from "./caller.ts";
import { createGetPrompt, type GetPrompt, type PromptSources } from "./prompts/get-prompt.ts";
import { activePrompts } from "./prompts/prompt-list.ts";
import { createComplete } from "./resources/complete.ts";
import { createReadState } from "./resources/export-resources.ts";
import { listResources, listResourceTemplates } from "./resources/resource-list.ts";
import {
  createReadContent,
  createReadForTool,
  createReadResource,
  type ReadResource,
} from "./resources/resources.ts";
import { sanitizeLine } from "./results/sanitize.ts";
import { activeTools } from "./tools/active-tools.ts";
import { createCallTool } from "./tools/call.ts";
import type { CallTool, ToolContext } from "./tools/tool-context.ts";
import { createDiscovery } from "./tools/discovery.ts";
import { isDiscoveryTool } from "./tools/discovery-tools.ts";
import { createDownload } from "./tools/file-download.ts";
import { clientOf, hostOf, opensOf, progressOf } from "./tools/host.ts";
import { offeredToolsets, listChecker, describeUnlisted } from "./tools/tool-list.ts";
import type { ReadContent } from "./tools/read-resource.ts";
import { createRunCall } from "./tools/run-call.ts";
import { scopeOfTool } from "./tools/kinds.ts";
import { offerTools } from "./tools/unknown-names.ts";
import { toolsetNames } from "../../tools/toolsets.ts";

/** Handlers of the requests that call the platform. Loaded, with contract and schemas, at the first such request. */
export type Handlers = {
  callTool(
    server: Server,
    context: ServerContext,
    caller: Caller,
    params: CallToolRequest["params"],
  ): Promise<CallToolResult | InputRequiredResult>;
  readResource: ReadResource;
  readRuns: ReturnType<typeof createReadState>;
  getPrompt: GetPrompt;
  /** Reads the attachments of a prompt for one request. */
  promptSources(signal: AbortSignal): PromptSources;
  complete: ReturnType<typeof createComplete>;
};

/** Calls `use` with the handlers of the request's caller. */
export type FindHandlers = <T>(
  auth: RequestAuth,
  use: (handlers: Handlers, caller: Caller) => Promise<T>,
) => Promise<T>;

const findTool = async (tools: ReadonlyMap<string, Tool>, name: string): Promise<Tool> => {
  const tool = tools.get(name);
  if (tool !== undefined) return tool;
  const hint = await offerTools(name, [...tools.keys()]);
  const shown = JSON.stringify(sanitizeLine(name, 80));
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}${hint}`);
};

/** Creates the reader of what resources have; its guide describes the listed tools alone. */
const createContentReader = (context: ToolContext) => {
  const { settings } = context;
  const offered = offeredToolsets(settings);
  const toolsets = toolsetNames.filter((name) => offered.includes(name));
  return createReadContent(context, {
    files: createDownload(context),
    guide: buildGuide(toolsets, settings.readOnly, {
      discovery: settings.discovery,
      isListed: listChecker(settings),
    }),
  });
};

const createReader = (context: ToolContext): ReadResource =>
  createReadResource(createContentReader(context), activeTools(context.settings));

/** The largest cost of what the result of a tool has beside a resource. */
const RESULT_TOKENS = 300;

/** Creates the reader of resources for the tool that hosts without resources use. */
const createToolReader = (context: ToolContext): ReadContent => {
  const { settings } = context;
  const answerTokens = settings.answerTokens - RESULT_TOKENS;
  const offered = { toolsets: offeredToolsets(settings) };
  const known = [
    ...listResources(offered).map(({ uri }) => uri),
    ...listResourceTemplates(offered).map(({ uriTemplate }) => uriTemplate),
  ];
  const read = createContentReader({ ...context, settings: { ...settings, answerTokens } });
  return createReadForTool(read, known);
};

/** Attachments and the text of a prompt stay within 2,500 tokens. */
const ATTACHMENT_TOKENS = 1900;

const PROMPT_TOOL = "prompts.get";

const createPromptSources = (
  toolContext: ToolContext,
  tools: ReadonlyMap<string, Tool>,
  callTool: CallTool,
): Handlers["promptSources"] => {
  const { settings } = toolContext;
  const answerTokens = Math.min(settings.answerTokens, ATTACHMENT_TOKENS);
  const context = { ...toolContext, settings: { ...settings, answerTokens } };
  const read = createReader(context);
  return (signal) => ({
    read: (uri) => read(uri, { tool: PROMPT_TOOL, signal, brief: true }),
    async ask(name, args) {
      const result = await callTool({
        tool: { ...(await findTool(tools, name)), name: PROMPT_TOOL },
        args,
        client: PROMPT_TOOL,
        host: { asks: "never" },
        opens: { opens: "never" },
        signal,
        progress: async () => {},
      });
      // An insight asks no person, so the result has content.
      const { content } = result as CallToolResult;
      const text = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return `${name}:\n${text.join("\n")}`;
    },
  });
};

export const createHandlers = (toolContext: ToolContext): Handlers => {
  const { settings, ending } = toolContext;
  const offered = { toolsets: offeredToolsets(settings) };
  const active = new Set(activeTools(settings));
  // A call of a tool that is not listed without a key says which key is missing.
  const callable = activeTools({ ...settings, lacksExportKey: false });
  const tools = new Map(callable.map((tool) => [tool.name, tool]));
  const run = createRunCall(toolContext);
  const callTool = createCallTool(toolContext, run, createToolReader(toolContext));
  const discover = createDiscovery({
    tools,
    canUse: (tool) => active.has(tool),
    run,
    answerTokens: settings.answerTokens,
  });
  return {
    async callTool(server, context, caller, params) {
      const { name, arguments: args = {} } = params;
      const { signal } = context.mcpReq;
      const call = (tool: Tool, given: Record<string, unknown>) => {
        checkScope(caller, scopeOfTool(tool));
        return callTool({
          tool,
          args: given,
          client: clientOf(server, context, caller),
          host: hostOf(server, context, ending),
          opens: opensOf(server, context, ending),
          signal,
          progress: progressOf(context),
        });
      };
      return settings.discovery === true && isDiscoveryTool(name)
        ? discover({ name, args, signal }, call)
        : call(await findTool(tools, name), args);
    },
    readResource: createReader(toolContext),
    readRuns: createReadState(toolContext),
    getPrompt: createGetPrompt({
      ...toolContext,
      offered,
      describeUnlisted: (text) => describeUnlisted(text, settings),
    }),
    promptSources: createPromptSources(toolContext, tools, callTool),
    complete: createComplete(toolContext, activePrompts(offered)),
  };
};
