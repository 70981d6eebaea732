import type { Prompt, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { MINUTE } from "../kit/clock.ts";
import { buildInstructions } from "../../tools/guide.ts";
import type { ListedTool } from "./tools/every-tool.ts";
import { offeredToolsets } from "./tools/offered-toolsets.ts";
import { listChecker, toolList } from "./tools/tool-list.ts";
import type { Settings } from "./caller.ts";
import { listPrompts } from "./prompts/prompt-list.ts";
import {
  enabledResources,
  listResources,
  listResourceTemplates,
} from "./resources/resource-list.ts";

/** Name, capabilities and lists of a server. They follow from the settings for a caller. */
export type ServerInfo = {
  info: { name: string; title: string; version: string };
  capabilities: Record<"tools" | "prompts" | "completions", Record<string, never>> & {
    resources: { subscribe?: true };
  };
  instructions: string;
  /** Cache hint of the lists. */
  hint: { ttlMs: number; cacheScope: "public" | "private" };
  tools: readonly ListedTool[];
  resources: readonly Resource[];
  resourceTemplates: readonly ResourceTemplateType[];
  prompts: readonly Prompt[];
};

export const createServerInfo = ({
  settings,
  version,
  isShared = true,
}: {
  settings: Settings;
  version: string;
  /** Whether all callers have the same lists. */
  isShared?: boolean;
}): ServerInfo => {
  const offered = { toolsets: offeredToolsets(settings) };
  return {
    info: { name: "receivables-mcp", title: "Receivables", version },
    capabilities: {
      tools: {},
      // Only export runs change by themselves.
      resources: enabledResources(offered).payments ? { subscribe: true } : {},
      prompts: {},
      completions: {},
    },
    instructions: buildInstructions(offered.toolsets, settings.readOnly, {
      discovery: settings.discovery,
      isListed: listChecker(settings),
    }),
    hint: { ttlMs: 5 * MINUTE, cacheScope: isShared ? "public" : "private" },
    tools: toolList(settings),
    resources: listResources(offered),
    resourceTemplates: listResourceTemplates(offered),
    prompts: listPrompts(offered),
  };
};
