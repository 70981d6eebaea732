import type { HeldRights } from "../../../broker/held-rights.ts";
import type { Access } from "../../../contract/operation.ts";
import type { Scope } from "../../caller.ts";
import { discoveryTools, isDiscoveryTool } from "./discovery-tools.ts";
import { everyTool, type ListedTool } from "./every-tool.ts";
import { researchTools } from "./research-tools.ts";
import { isActive, type ListSettings } from "./toolsets.ts";
import { toolsetNames, type Toolset } from "../../../../tools/toolsets.ts";

const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
};

const choose = (settings: ListSettings): readonly ListedTool[] => {
  const { discovery = false, research = false, readOnly } = settings;
  const active = everyTool
    .filter(({ toolset }) => !discovery || toolset === "insights")
    .filter(({ toolset, needsExportKey, tool }) =>
      isActive(settings, {
        name: tool.name,
        toolset,
        reads: tool.annotations.readOnlyHint,
        needsExportKey,
      }),
    )
    .map(({ tool }) => tool);
  return frozen([
    ...(discovery ? discoveryTools(readOnly) : []),
    ...(research ? researchTools : []),
    ...active,
  ]);
};

const chosen = new Map<string, readonly ListedTool[]>();

/** Returns the answer to `tools/list`, in stable order. It depends on the settings only and is created once per process. */
export const toolList = (settings: ListSettings): readonly ListedTool[] => {
  const { toolsets, coreOf = [], readOnly, lacksExportKey = false } = settings;
  const { discovery = false, research = false } = settings;
  const sets = [toolsets.toSorted(), coreOf.toSorted()];
  const key = JSON.stringify([sets, readOnly, discovery, research, lacksExportKey]);
  const list = chosen.get(key) ?? choose(settings);
  chosen.set(key, list);
  return list;
};

/** Creates a predicate: whether a tool of that name is listed. */
export const listChecker = (settings: ListSettings): ((name: string) => boolean) => {
  const names = new Set(toolList(settings).map(({ name }) => name));
  return (name) => names.has(name);
};

/** The caller's scopes, and what is known of the rights of their credentials. */
type CallerRights = { scopes: readonly Scope[]; rights: HeldRights | undefined };

/** Whether a caller may use a tool of that name, as far as is known. */
export type IsUsable = (name: string) => boolean;

/** The tools for research read what the caller may read, as insights do. */
const needs = new Map<string, { scope: Scope; rights: readonly Access[] }>([
  ...everyTool.map(({ tool, scope, rights }) => [tool.name, { scope, rights }] as const),
  ...researchTools.map(({ name }) => [name, { scope: "read", rights: [] }] as const),
]);

/** Creates a predicate: whether the caller may use a tool of that name. The tools of discovery mode need no right. */
export const createIsUsable =
  ({ scopes, rights: held }: CallerRights): IsUsable =>
  (name) => {
    const needed = needs.get(name);
    if (needed === undefined) return true;
    const isHeld = (access: Access): boolean => held?.mayHave(access) ?? true;
    return scopes.includes(needed.scope) && needed.rights.every(isHeld);
  };

/** Returns the toolsets of which the caller may use a tool. */
export const usableToolsets = (
  toolsets: readonly Toolset[],
  isUsable: IsUsable,
): readonly Toolset[] => {
  const usable = new Set(
    everyTool.flatMap(({ toolset, tool }) => (isUsable(tool.name) ? [toolset] : [])),
  );
  return toolsets.filter((toolset) => usable.has(toolset));
};

const askingNames = new Set(everyTool.flatMap((one) => (one.asks ? [one.tool.name] : [])));

/** Whether a person is asked before some calls of a listed tool; `call_tool` asks as the tool that it calls does. */
export const isAskingTool = ({ name, annotations }: ListedTool): boolean =>
  askingNames.has(name) || (isDiscoveryTool(name) && !annotations.readOnlyHint);

const TOOL_NAME = /\b[a-z]+(?:_[a-z0-9]+)+\b/g;

const COMPLETE: ListSettings = { toolsets: toolsetNames, readOnly: false };

/** Describes how to call the tools named in a text that a server does not list; empty if it lists all. */
export const describeUnlisted = (text: string, settings: ListSettings): string => {
  const isListed = listChecker(settings);
  const isCallable = listChecker({ ...settings, discovery: false });
  const isTool = listChecker(COMPLETE);
  const named = [...new Set(text.match(TOOL_NAME))].filter(isTool);
  const unlisted = named.filter((name) => !isListed(name));
  const reachable = unlisted.filter(isCallable);
  const missing = unlisted.filter((name) => !isCallable(name));
  const listNames = (ways: string, names: readonly string[]): string =>
    names.length === 0 ? "" : `\n\n${ways}: ${names.join(", ")}.`;
  return (
    listNames(
      "Not listed as tools, so call them with call_tool (describe_tool gives their arguments)",
      reachable,
    ) + listNames("Not available on this server, so say what you would do with them", missing)
  );
};

const keyless = new Set(
  everyTool.flatMap(({ toolset, needsExportKey }) => (needsExportKey ? [] : [toolset])),
);

/** Returns the enabled toolsets, without those of which every tool needs a key that no caller can have. */
export const offeredToolsets = ({ toolsets, lacksExportKey }: ListSettings): readonly Toolset[] =>
  lacksExportKey === true ? toolsets.filter((toolset) => keyless.has(toolset)) : toolsets;
