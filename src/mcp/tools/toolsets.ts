import { type Toolset, toolsetNames } from "../../../tools/toolsets.ts";
import type { Settings } from "../caller.ts";

export const knownToolsets: readonly Toolset[] = toolsetNames;

export const isToolset = (name: string): name is Toolset =>
  (knownToolsets as readonly string[]).includes(name);

/** The settings that the tool list depends on. */
export type ListSettings = Pick<Settings, "toolsets" | "readOnly" | "discovery">;

/** Whether a server with these settings has a tool of this toolset that only reads, or that changes records. */
export const isActive = (
  settings: ListSettings,
  { toolset, reads }: { toolset: Toolset; reads: boolean },
): boolean => settings.toolsets.includes(toolset) && (reads || !settings.readOnly);
