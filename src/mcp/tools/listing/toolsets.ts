import { coreTools } from "../../../../tools/core.ts";
import type { Toolset } from "../../../../tools/toolsets.ts";
import type { Settings } from "../../../config/settings.ts";

/** The settings that the tool list depends on. */
export type ListSettings = Pick<
  Settings,
  "toolsets" | "coreOf" | "research" | "readOnly" | "discovery" | "lacksExportKey"
>;

/** Properties of a tool that decide whether it is listed. */
type ToolTraits = { name: string; toolset: Toolset; reads: boolean; needsExportKey: boolean };

/** Whether a server with these settings lists a tool. */
export const isActive = (
  settings: ListSettings,
  { name, toolset, reads, needsExportKey }: ToolTraits,
): boolean =>
  settings.toolsets.includes(toolset) &&
  (coreTools.has(name) || settings.coreOf?.includes(toolset) !== true) &&
  (reads || !settings.readOnly) &&
  !(needsExportKey && settings.lacksExportKey === true);
