import about from "../../package.json" with { type: "json" };
import type { Prompt, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { canShowViews } from "../views/views.ts";
import { MINUTE } from "../kit/clock.ts";
import { buildInstructions } from "../../tools/guide.ts";
import type { ListedTool } from "./tools/listing/every-tool.ts";
import { withConfirmView } from "./tools/listing/confirm-tool.ts";
import {
  isAskingTool,
  type IsUsable,
  listChecker,
  offeredToolsets,
  toolList,
  usableToolsets,
} from "./tools/listing/tool-list.ts";
import type { Settings } from "../config/settings.ts";
import { ICONS } from "./icons.ts";
import { listPrompts } from "./prompts/prompt-list.ts";
import { listResources, listResourceTemplates } from "./resources/resource-list.ts";
import { listViews, withViews } from "./resources/view-resources.ts";

/** The protocol version whose hosts have no sessions. */
export const MODERN_VERSION = "2026-07-28";

/** The lists for one caller. Hosts with views get the views too. */
export type Lists = {
  tools: readonly ListedTool[];
  resources: readonly Resource[];
  resourceTemplates: readonly ResourceTemplateType[];
  prompts: readonly Prompt[];
};

/** Name, capabilities and lists of a server. They follow from the settings for a caller. */
export type ServerInfo = {
  info: {
    name: string;
    title: string;
    version: string;
    description: string;
    websiteUrl: string;
    icons: { src: string; mimeType: string; sizes: string[] }[];
  };
  capabilities: Record<"tools" | "prompts", { listChanged: true }> & {
    resources: { subscribe?: true; listChanged: true };
    completions: Record<string, never>;
    extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } };
  };
  instructions: string;
  /** Cache hint of the lists, which differ by caller. */
  hint: { ttlMs: number; cacheScope: "private" };
  /** Returns the lists for a client with these capabilities; without `isUsable`, with everything that is enabled. */
  listsFor(capabilities: unknown, isUsable?: IsUsable): Lists;
};

export type Identity = Pick<ServerInfo["info"], "name" | "version"> & {
  title?: string | undefined;
};

/** Returns the fields of a server that each response names. */
export const identify = ({ name, title, version }: Identity): Identity => ({
  name,
  title,
  version,
});

/** Adds the views to lists, and the tool by which the confirmation view answers. */
const addViews = (lists: Lists): Lists => {
  const tools = withConfirmView(withViews(lists.tools), isAskingTool);
  return { ...lists, tools, resources: [...lists.resources, ...listViews(tools)] };
};

export const createServerInfo = ({
  settings,
  version,
}: {
  settings: Settings;
  version: string;
}): ServerInfo => {
  const offered = { toolsets: offeredToolsets(settings) };
  const enabled = {
    tools: toolList(settings),
    resources: listResources(offered),
    resourceTemplates: listResourceTemplates(offered),
    prompts: listPrompts(offered),
  };
  const enabledWithViews = addViews(enabled);
  const findUsable = (isUsable: IsUsable): Lists => {
    const tools = enabled.tools.filter(({ name }) => isUsable(name));
    if (tools.length === enabled.tools.length) return enabled;
    const usable = { toolsets: usableToolsets(offered.toolsets, isUsable) };
    return {
      tools,
      resources: listResources(usable),
      resourceTemplates: listResourceTemplates(usable),
      prompts: listPrompts(usable),
    };
  };
  return {
    info: {
      name: about.name,
      title: "Receivables",
      version,
      description: about.description,
      websiteUrl: about.homepage,
      icons: ICONS,
    },
    capabilities: {
      tools: { listChanged: true },
      resources: {
        // Only export runs change by themselves.
        ...(offered.toolsets.includes("payments") ? { subscribe: true } : {}),
        listChanged: true,
      },
      prompts: { listChanged: true },
      completions: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    },
    instructions: buildInstructions(offered.toolsets, settings.readOnly, {
      discovery: settings.discovery,
      isListed: listChecker(settings),
    }),
    hint: { ttlMs: 5 * MINUTE, cacheScope: "private" },
    listsFor(capabilities, isUsable) {
      const lists = isUsable === undefined ? enabled : findUsable(isUsable);
      if (!canShowViews(capabilities)) return lists;
      return lists === enabled ? enabledWithViews : addViews(lists);
    },
  };
};
