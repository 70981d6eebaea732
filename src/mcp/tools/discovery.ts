import type { CallArguments } from "../../contract/operation.ts";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Problem } from "../../contract/errors.ts";
import type { Tool } from "../../../tools/tool.ts";
import { withAbout } from "../results/answer.ts";
import { truncateToBudget } from "../results/budget.ts";
import { toJsonText } from "../results/json-text.ts";
import { sanitizeLine } from "../results/sanitize.ts";
import { parseText, refuseArguments } from "./arguments/arguments.ts";
import { readOwnInput } from "./arguments/own-input.ts";
import type { DiscoveryTool } from "./listing/discovery-tools.ts";
import { everyTool } from "./listing/every-tool.ts";
import { isReading } from "./listing/kinds.ts";
import type { RunCall } from "./run-call.ts";
import type { IsUsable } from "./listing/tool-list.ts";
import { offerTools, openSearch } from "./arguments/unknown-names.ts";

/** Calls a tool as the host's own `tools/call` does. */
type Call = (tool: Tool, args: CallArguments) => Promise<CallToolResult | InputRequiredResult>;

type Request = {
  name: DiscoveryTool;
  args: CallArguments;
  signal: AbortSignal;
  isUsable: IsUsable;
};

export type DiscoveryNeeds = {
  /** The tools that the settings enable, by name. */
  tools: ReadonlyMap<string, Tool>;
  /** Whether the server has what the tool needs; others are not found. */
  isListed(tool: Tool): boolean;
  run: RunCall;
  answerTokens: number;
};

const MOST_FOUND = 8;

const ToolName = z.string().min(1).max(100);

const INPUTS = {
  find_tools: z.object({ query: z.string().trim().min(1).max(500) }),
  describe_tool: z.object({ name: ToolName }),
  call_tool: z.object({
    name: ToolName,
    arguments: z
      .preprocess(
        // Many hosts send objects as text.
        (value) => (typeof value === "string" ? parseText(value) : value),
        z.record(z.string(), z.unknown()),
      )
      .default({}),
  }),
};

/** Names the tools that an unknown name may mean. */
const unknownTool = async (
  named: DiscoveryTool,
  name: string,
  known: readonly string[],
): Promise<Problem> => {
  const shown = JSON.stringify(sanitizeLine(name, 80));
  const message = `${shown} is not a tool${await offerTools(name, known)}; find_tools finds the tool for a task`;
  return refuseArguments({ name: named }, [{ field: "name", code: "unknown", message }]);
};

const present = (answer: CallArguments, tokens: number): CallToolResult => {
  const structured = withAbout(truncateToBudget(answer, tokens).record);
  return {
    content: [{ type: "text", text: toJsonText(structured) }],
    structuredContent: structured,
  };
};

const toFound = (tool: Tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  readOnly: isReading(tool),
});

const NOTHING_FOUND =
  "Nothing matches. Name the kind of record and what to do with it, such as: list open disputes.";

const createAnswers = ({ tools, isListed }: DiscoveryNeeds) => {
  const known = [...tools.keys()];
  return {
    async find(args: CallArguments, isUsable: IsUsable): Promise<CallArguments> {
      const { query } = readOwnInput("find_tools", INPUTS.find_tools, args);
      const search = await openSearch();
      const found = search(query)
        .flatMap((name) => tools.get(name) ?? [])
        .filter((tool) => isListed(tool) && isUsable(tool.name))
        .slice(0, MOST_FOUND);
      return {
        tools: found.map(toFound),
        ...(found.length === 0 ? { notes: NOTHING_FOUND } : {}),
      };
    },
    async describe(args: CallArguments): Promise<CallArguments> {
      const { name } = readOwnInput("describe_tool", INPUTS.describe_tool, args);
      const listed = everyTool.find(({ tool }) => tool.name === name)?.tool;
      if (listed === undefined || !tools.has(name))
        throw await unknownTool("describe_tool", name, known);
      const { title, description, inputSchema, annotations } = listed;
      return { name, title, description, inputSchema, annotations };
    },
    /** Returns the tool that `call_tool` calls, and its arguments. */
    async target(args: CallArguments): Promise<{ tool: Tool; given: CallArguments }> {
      const { name, arguments: given } = readOwnInput("call_tool", INPUTS.call_tool, args);
      const tool = tools.get(name);
      if (tool === undefined) throw await unknownTool("call_tool", name, known);
      return { tool, given };
    },
  };
};

/** Creates the calls of the tools that find, describe and call the others. */
export const createDiscovery = (needs: DiscoveryNeeds) => {
  const { run, answerTokens } = needs;
  const answers = createAnswers(needs);
  const answer = (
    request: Request,
    make: (args: CallArguments, isUsable: IsUsable) => CallArguments | Promise<CallArguments>,
  ) =>
    run({ ...request, tool: null }, async () =>
      present(await make(request.args, request.isUsable), answerTokens),
    );
  return async (request: Request, call: Call): Promise<CallToolResult | InputRequiredResult> => {
    if (request.name === "find_tools") return answer(request, answers.find);
    if (request.name === "describe_tool") return answer(request, answers.describe);
    let target: Awaited<ReturnType<typeof answers.target>>;
    try {
      target = await answers.target(request.args);
    } catch (error) {
      return run({ ...request, tool: null }, () => Promise.reject(error));
    }
    // Logged, limited and answered as a call of the tool itself.
    return call(target.tool, target.given);
  };
};
