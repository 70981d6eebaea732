import { toolsets } from "../../../../tools/index.ts";
import { isOperationTool, type OperationTool, type Tool } from "../../../../tools/tool.ts";
import { isReading, needsExportKey } from "./kinds.ts";
import { toolsetNames } from "../../../../tools/toolsets.ts";
import { isActive, type ListSettings } from "./toolsets.ts";

/** The tools a server with these settings has, in the order of the toolsets. */
export const activeTools = (settings: ListSettings): Tool[] =>
  toolsetNames.flatMap((toolset) =>
    toolsets[toolset].filter((tool) =>
      isActive(settings, {
        name: tool.name,
        toolset,
        reads: isReading(tool),
        needsExportKey: needsExportKey(tool),
      }),
    ),
  );

export const activeOperationTools = (settings: ListSettings): OperationTool[] =>
  activeTools(settings).filter(isOperationTool);
