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
import { isOperationTool, type Tool } from "../../tools/tool.ts";
import type { Broker } from "../broker/port.ts";
import { CONFIRM_TOOL } from "../views/views.ts";
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
import { GUIDE } from "./results/resource-uris.ts";
import { renderSkills, toAddresses } from "./skills/skill-files.ts";
import { sanitizeLine } from "./results/sanitize.ts";
import { activeTools } from "./tools/listing/active-tools.ts";
import { createCallTool } from "./tools/call.ts";
import { createOpenPaging } from "./tools/cursor.ts";
import type { CallTool, ToolContext } from "./tools/tool-context.ts";
import { createDiscovery } from "./tools/discovery.ts";
import { isDiscoveryTool } from "./tools/listing/discovery-tools.ts";
import { createDownload } from "./tools/files/download.ts";
import { clientOf, opensOf, progressOf, waysOf } from "./tools/host.ts";
import {
  createIsUsable,
  describeUnlisted,
  listChecker,
  offeredToolsets,
} from "./tools/listing/tool-list.ts";
import type { ReadContent } from "./tools/read-resource.ts";
import { createRunCall, type RunCall } from "./tools/run-call.ts";
import { mayAsk, scopeOfTool } from "./tools/listing/kinds.ts";
import { type ApprovedCall, createTicketCalls } from "./tools/ticket-calls.ts";
import { offerTools } from "./tools/arguments/unknown-names.ts";
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
  /** The known rights of the caller's credentials, and a way to learn them. */
  broker: Pick<Broker, "rights" | "learnRights">;
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

/** Returns the tools whose views exist; the confirmation view does where a tool asks. */
const listPages = (tools: readonly Tool[]): { name: string }[] => {
  const hasQuestions = tools.some((tool) => isOperationTool(tool) && mayAsk(tool));
  return [...tools, ...(hasQuestions ? [{ name: CONFIRM_TOOL }] : [])];
};

/** Creates the reader of what resources have; its guide describes the listed tools alone. */
const createContentReader = (context: ToolContext) => {
  const { settings } = context;
  const offered = offeredToolsets(settings);
  const toolsets = toolsetNames.filter((name) => offered.includes(name));
  const guide = buildGuide(toolsets, settings.readOnly, {
    discovery: settings.discovery,
    isListed: listChecker(settings),
  });
  return createReadContent(context, {
    files: createDownload(context),
    openPaging: createOpenPaging(context),
    own: new Map([[GUIDE, guide], ...toAddresses(renderSkills(settings))]),
  });
};

const createReader = (context: ToolContext): ReadResource =>
  createReadResource(createContentReader(context), listPages(activeTools(context.settings)));

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
        session: PROMPT_TOOL,
        host: { asks: "never" },
        showsViews: false,
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

/** Creates the handler of `tools/call`. */
const createCallHandler = (
  toolContext: ToolContext,
  { tools, run, callTool }: { tools: ReadonlyMap<string, Tool>; run: RunCall; callTool: CallTool },
): Handlers["callTool"] => {
  const { settings, ending } = toolContext;
  const active = new Set(activeTools(settings));
  const { answerTokens } = settings;
  const discover = createDiscovery({
    tools,
    isListed: (tool) => active.has(tool),
    run,
    answerTokens,
  });
  return async (server, context, caller, { name, arguments: args = {} }) => {
    const { signal } = context.mcpReq;
    const client = clientOf(server, context, caller);
    const ways = waysOf(server, context, client, ending);
    const call = (tool: Tool, given: Record<string, unknown>, approved?: ApprovedCall) => {
      checkScope(caller, scopeOfTool(tool));
      const opens = opensOf(server, context, ending);
      const progress = progressOf(context);
      return callTool({ ...ways, tool, args: given, client, approved, opens, signal, progress });
    };
    if (name === CONFIRM_TOOL && ways.showsViews) {
      const answer = createTicketCalls(toolContext, run, async (approved) =>
        call(await findTool(tools, approved.tool), approved.args, approved),
      );
      return answer({ args, client, signal });
    }
    const isUsable = createIsUsable({ scopes: caller.scopes, rights: toolContext.broker.rights });
    return settings.discovery === true && isDiscoveryTool(name)
      ? discover({ name, args, signal, isUsable }, call)
      : call(await findTool(tools, name), args);
  };
};

export const createHandlers = (toolContext: ToolContext): Handlers => {
  const { settings } = toolContext;
  const offered = { toolsets: offeredToolsets(settings) };
  // A call of a tool that is not listed without a key says which key is missing.
  const callable = activeTools({ ...settings, lacksExportKey: false });
  const tools = new Map(callable.map((tool) => [tool.name, tool]));
  const run = createRunCall(toolContext);
  const callTool = createCallTool(toolContext, run, createToolReader(toolContext));
  return {
    callTool: createCallHandler(toolContext, { tools, run, callTool }),
    readResource: createReader(toolContext),
    readRuns: createReadState(toolContext),
    getPrompt: createGetPrompt({
      ...toolContext,
      offered,
      hasTool: listChecker({ ...settings, discovery: false }),
      describeUnlisted: (text) => describeUnlisted(text, settings),
    }),
    promptSources: createPromptSources(toolContext, tools, callTool),
    complete: createComplete(toolContext, activePrompts(offered)),
    broker: toolContext.broker,
  };
};
