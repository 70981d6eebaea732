import { type Toolset, toolsets } from "../../tools/index.ts";
import type { Tool } from "../../tools/tool.ts";

export type Settings = {
  toolsets: readonly Toolset[];
  readOnly: boolean;
  /** What tools that ask do where the host cannot ask: give a second-step token, or refuse. */
  confirm: "token" | "refuse";
  /** Budget of one answer, in tokens of the common tokenizers. */
  answerTokens: number;
};

export const knownToolsets = Object.keys(toolsets) as readonly Toolset[];

export const isToolset = (name: string): name is Toolset => Object.hasOwn(toolsets, name);

/** What the tool list depends on, and nothing else. */
export type ListSettings = Pick<Settings, "toolsets" | "readOnly">;

export const reads = (tool: Tool): boolean => tool.operation.effect === "read";

/** The tools a server with these settings has, in the order of the toolsets. */
export const activeTools = (settings: ListSettings): Tool[] =>
  knownToolsets
    .filter((name) => settings.toolsets.includes(name))
    .flatMap((name): readonly Tool[] => toolsets[name])
    .filter((tool) => !settings.readOnly || reads(tool));
