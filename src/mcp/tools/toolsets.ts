import type { Toolset } from "../../../tools/toolsets.ts";
import type { Settings } from "../caller.ts";

export { toolsetNames } from "../../../tools/toolsets.ts";

/** The settings that the tool list depends on. */
export type ListSettings = Pick<Settings, "toolsets" | "readOnly" | "discovery" | "lacksExportKey">;

/** Properties of a tool that decide whether it is listed. */
type ToolTraits = { toolset: Toolset; reads: boolean; needsExportKey: boolean };

/** Whether a server with these settings lists a tool. */
export const isActive = (
  settings: ListSettings,
  { toolset, reads, needsExportKey }: ToolTraits,
): boolean =>
  settings.toolsets.includes(toolset) &&
  (reads || !settings.readOnly) &&
  !(needsExportKey && settings.lacksExportKey === true);
