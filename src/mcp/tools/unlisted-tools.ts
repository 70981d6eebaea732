import { listChecker } from "./tool-list.ts";
import { toolsetNames } from "../../../tools/toolsets.ts";
import type { ListSettings } from "./toolsets.ts";

const TOOL_NAME = /\b[a-z]+(?:_[a-z]+)+\b/g;

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
  const ways = [
    reachable.length === 0
      ? ""
      : `Not listed as tools, so call them with call_tool (describe_tool gives their arguments): ${reachable.join(", ")}.`,
    missing.length === 0
      ? ""
      : `Not available on this server, so say what you would do with them: ${missing.join(", ")}.`,
  ];
  return ways.map((way) => (way === "" ? "" : `\n\n${way}`)).join("");
};
