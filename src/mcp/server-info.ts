import type { Prompt, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { canShowViews } from "../views/views.ts";
import { MINUTE } from "../kit/clock.ts";
import { buildInstructions } from "../../tools/guide.ts";
import type { ListedTool } from "./tools/every-tool.ts";
import { confirmTool } from "./tools/confirm-tool.ts";
import { isAskingTool, offeredToolsets, listChecker, toolList } from "./tools/tool-list.ts";
import type { Settings } from "./caller.ts";
import { listPrompts } from "./prompts/prompt-list.ts";
import { listResources, listResourceTemplates } from "./resources/resource-list.ts";
import { listViews, withConfirmView, withViews } from "./resources/view-resources.ts";

/** The lists that hosts with views get with the views, and all others without. */
type ListsWithViews = { tools: readonly ListedTool[]; resources: readonly Resource[] };

/** Name, capabilities and lists of a server. They follow from the settings for a caller. */
export type ServerInfo = {
  info: { name: string; title: string; version: string };
  capabilities: Record<"tools" | "prompts" | "completions", Record<string, never>> & {
    resources: { subscribe?: true };
  };
  instructions: string;
  /** Cache hint of the lists. A host ignores views that a shared cache gives it. */
  hint: { ttlMs: number; cacheScope: "public" | "private" };
  /** Returns the lists for a client with these capabilities. */
  listsFor(capabilities: unknown): ListsWithViews;
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
  const plain = { tools: toolList(settings), resources: listResources(offered) };
  const tools = withConfirmView(withViews(plain.tools), isAskingTool, confirmTool);
  const rich = { tools, resources: [...plain.resources, ...listViews(tools)] };
  return {
    info: { name: "receivables-mcp", title: "Receivables", version },
    capabilities: {
      tools: {},
      // Only export runs change by themselves.
      resources: offered.toolsets.includes("payments") ? { subscribe: true } : {},
      prompts: {},
      completions: {},
    },
    instructions: buildInstructions(offered.toolsets, settings.readOnly, {
      discovery: settings.discovery,
      isListed: listChecker(settings),
    }),
    hint: { ttlMs: 5 * MINUTE, cacheScope: isShared ? "public" : "private" },
    listsFor: (capabilities) => (canShowViews(capabilities) ? rich : plain),
    resourceTemplates: listResourceTemplates(offered),
    prompts: listPrompts(offered),
  };
};
