import { ABOUT } from "./about-schema.ts";
import type { Hints, ListedTool } from "./every-tool.ts";
import { searchMetaOf } from "../../../../tools/search-hints.ts";
import type { JsonSchema, ObjectSchema } from "./schemas.ts";

const NAMES = ["find_tools", "describe_tool", "call_tool"] as const;
export type DiscoveryTool = (typeof NAMES)[number];

export const isDiscoveryTool = (name: string): name is DiscoveryTool =>
  (NAMES as readonly string[]).includes(name);

export const TEXT: JsonSchema = { type: "string" };
const FLAG: JsonSchema = { type: "boolean" };
const OBJECT: JsonSchema = { type: "object" };
const TOOL_NAME: JsonSchema = { type: "string", description: "from find_tools" };

export const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** A tool that makes the call of another one has the effects of that one, so it announces the strongest. */
export const CALLS: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export const toInput = (
  properties: Record<string, JsonSchema>,
  required: string[],
): ObjectSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

export const toOutput = (properties: Record<string, JsonSchema>): ObjectSchema => ({
  type: "object",
  properties: { about: ABOUT, ...properties },
});

const FOUND: JsonSchema = {
  type: "object",
  properties: { name: TEXT, title: TEXT, description: TEXT, readOnly: FLAG },
};

/** The tools that a server lists in discovery mode beside the insights. They do not load the contract, so that listing is fast. */
export const discoveryTools = (readOnly: boolean): readonly ListedTool[] =>
  ownTools(readOnly).map((tool) => ({ ...tool, _meta: searchMetaOf(tool.name) }));

const ownTools = (readOnly: boolean): readonly ListedTool[] => [
  {
    name: "find_tools",
    title: "Find tools",
    description:
      "Find the tools for a task, best first. Use it before saying that something cannot be done.",
    inputSchema: toInput(
      { query: { type: "string", description: 'the task in words: "add a note to a dispute"' } },
      ["query"],
    ),
    outputSchema: toOutput({ tools: { type: "array", items: FOUND }, notes: TEXT }),
    annotations: READS,
  },
  {
    name: "describe_tool",
    title: "Describe a tool",
    description: "Get the description and the input schema of a tool.",
    inputSchema: toInput({ name: TOOL_NAME }, ["name"]),
    outputSchema: toOutput({
      name: TEXT,
      title: TEXT,
      description: TEXT,
      inputSchema: OBJECT,
      annotations: OBJECT,
    }),
    annotations: READS,
  },
  {
    name: "call_tool",
    title: "Call a tool",
    description: `Call a tool by name, with the arguments that describe_tool gives.${readOnly ? "" : " Asks the person as the tool itself does; a confirmationToken goes into arguments."}`,
    inputSchema: toInput(
      {
        name: TOOL_NAME,
        // Some hosts refuse an object without properties.
        arguments: {
          type: "object",
          description: "as describe_tool gives them; absent: none",
          properties: { key: { type: "string", description: "any argument" } },
        },
      },
      ["name"],
    ),
    outputSchema: toOutput({}),
    annotations: readOnly ? READS : CALLS,
  },
];

/** Returns the name of the tool that the parameters of `tools/call` mean, which `call_tool` has in its arguments. */
export const findCalledName = ({
  name,
  arguments: args,
}: Readonly<Record<string, unknown>>): unknown => {
  if (name !== "call_tool" || typeof args !== "object" || args === null) return name;
  return "name" in args ? args.name : undefined;
};
