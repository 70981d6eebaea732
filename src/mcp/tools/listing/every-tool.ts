import type { Access, Operation } from "../../../contract/operation.ts";
import { toolsets } from "../../../../tools/index.ts";
import { isInsightTool, isOperationTool, type Tool } from "../../../../tools/tool.ts";
import type { Scope } from "../../caller.ts";
import { mayAsk, needsExportKey, rightsOfTool, scopeOfTool } from "./kinds.ts";
import { outputSchema } from "./output-schema.ts";
import { inputSchema, type ObjectSchema } from "./schemas.ts";
import { searchMetaOf } from "../../../../tools/search-hints.ts";
import { type Toolset, toolsetNames } from "../../../../tools/toolsets.ts";

export type Hints = {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
};

export type ListedTool = {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema: ObjectSchema;
  annotations: Hints;
  _meta?: Record<string, unknown>;
};

const hints = (readOnly: boolean, destructive: boolean, idempotent: boolean): Hints => ({
  readOnlyHint: readOnly,
  destructiveHint: destructive,
  idempotentHint: idempotent,
  openWorldHint: false,
});

const HINTS: Record<Operation["effect"], Hints> = {
  read: hints(true, false, true),
  create: hints(false, false, false),
  change: hints(false, true, true),
  session: hints(false, false, true),
};

const hintsOf = ({ effect, effects }: Operation): Hints => ({
  ...HINTS[effect],
  openWorldHint: effects.some(({ kind }) => kind === "discloses"),
});

const listed = (tool: Tool): ListedTool => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: inputSchema(tool),
  outputSchema: outputSchema(tool),
  annotations: isInsightTool(tool) ? HINTS.read : hintsOf(tool.operation),
  _meta: searchMetaOf(tool.name),
});

/**
 * All tools in the form of `tools/list`, with the properties that decide whether they are listed, in the order of the toolsets. The build replaces this
 * module by its values, so that listing tools loads neither contract nor schemas.
 */
export const everyTool: readonly {
  toolset: Toolset;
  needsExportKey: boolean;
  /** The scope that a caller needs over HTTP, and the rights at the platform. */
  scope: Scope;
  rights: readonly Access[];
  /** Whether a person is asked before some calls. */
  asks: boolean;
  tool: ListedTool;
}[] = toolsetNames.flatMap((toolset) =>
  toolsets[toolset].map((tool) => ({
    toolset,
    needsExportKey: needsExportKey(tool),
    scope: scopeOfTool(tool),
    rights: rightsOfTool(tool),
    asks: isOperationTool(tool) && mayAsk(tool),
    tool: listed(tool),
  })),
);
