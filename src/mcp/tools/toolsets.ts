import { type Toolset, toolsetNames } from "../../../tools/toolsets.ts";
import type { Settings } from "../caller.ts";

export const knownToolsets: readonly Toolset[] = toolsetNames;

export const isToolset = (name: string): name is Toolset =>
  (knownToolsets as readonly string[]).includes(name);

/** The settings that the tool list depends on. */
export type ListSettings = Pick<Settings, "toolsets" | "readOnly" | "discovery" | "lacksExportKey">;

/** Properties of a tool that decide whether it is listed. */
export type ToolTraits = { toolset: Toolset; reads: boolean; needsExportKey: boolean };

/** Whether a server with these settings lists a tool. */
export const isActive = (
  settings: ListSettings,
  { toolset, reads, needsExportKey }: ToolTraits,
): boolean =>
  settings.toolsets.includes(toolset) &&
  (reads || !settings.readOnly) &&
  !(needsExportKey && settings.lacksExportKey === true);
