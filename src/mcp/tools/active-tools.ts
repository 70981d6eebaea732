import { toolsets } from "../../../tools/index.ts";
import type { Tool } from "../../../tools/tool.ts";
import { reads } from "./kinds.ts";
import { isActive, knownToolsets, type ListSettings } from "./toolsets.ts";

/** The tools a server with these settings has, in the order of the toolsets. */
export const activeTools = (settings: ListSettings): Tool[] =>
  knownToolsets.flatMap((toolset) =>
    toolsets[toolset].filter((tool) =>
      isActive(settings, { toolset, reads: reads(tool.operation) }),
    ),
  );
