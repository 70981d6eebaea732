import { discoveryTools } from "./discovery-tools.ts";
import { everyTool, type ListedTool } from "./every-tool.ts";
import { isActive, type ListSettings } from "./toolsets.ts";

const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
};

const choose = (settings: ListSettings): readonly ListedTool[] => {
  const { discovery = false, readOnly } = settings;
  const active = everyTool
    .filter(({ toolset }) => !discovery || toolset === "insights")
    .filter(({ toolset, needsExportKey, tool }) =>
      isActive(settings, { toolset, reads: tool.annotations.readOnlyHint, needsExportKey }),
    )
    .map(({ tool }) => tool);
  return frozen(discovery ? [...discoveryTools(readOnly), ...active] : active);
};

const chosen = new Map<string, readonly ListedTool[]>();

/** Returns the answer to `tools/list`, in stable order. It depends on the settings only and is created once per process. */
export const toolList = (settings: ListSettings): readonly ListedTool[] => {
  const { toolsets, readOnly, discovery = false, lacksExportKey = false } = settings;
  const key = JSON.stringify([toolsets.toSorted(), readOnly, discovery, lacksExportKey]);
  const list = chosen.get(key) ?? choose(settings);
  chosen.set(key, list);
  return list;
};

/** Creates a predicate: whether a tool of that name is listed. */
export const listChecker = (settings: ListSettings): ((name: string) => boolean) => {
  const names = new Set(toolList(settings).map(({ name }) => name));
  return (name) => names.has(name);
};
