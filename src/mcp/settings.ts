import { type Toolset, toolsetNames } from "../../tools/toolsets.ts";

export type Settings = {
  toolsets: readonly Toolset[];
  readOnly: boolean;
  /** What tools that ask do where the host cannot ask: give a second-step token, or refuse. */
  confirm: "token" | "refuse";
  /** Budget of one answer, in tokens of the common tokenizers. */
  answerTokens: number;
  /** Calls of tools that one caller may make in a minute; 0: any number. */
  callsPerMinute: number;
};

export const knownToolsets: readonly Toolset[] = toolsetNames;

export const isToolset = (name: string): name is Toolset =>
  (knownToolsets as readonly string[]).includes(name);

/** What the tool list depends on, and nothing else. */
export type ListSettings = Pick<Settings, "toolsets" | "readOnly">;

/** Whether a server with these settings has a tool of a toolset that reads only, or not. */
export const isActive = (
  settings: ListSettings,
  { toolset, reads }: { toolset: Toolset; reads: boolean },
): boolean => settings.toolsets.includes(toolset) && (reads || !settings.readOnly);
