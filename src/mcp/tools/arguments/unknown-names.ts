import type { Fault } from "../../../contract/errors.ts";
import { findNearest, offerNames } from "../../../kit/nearest.ts";
import { formatFaults } from "../../../contract/faults.ts";
import type { Arguments, OperationTool, Tool } from "../../../../tools/tool.ts";
import { badArguments } from "../../results/refusal.ts";
import { sanitizeLine } from "../../results/sanitize.ts";
import { findOtherWay, findOtherTool } from "../../../../tools/other-ways.ts";
import { WITHHELD } from "../listing/schemas.ts";
import { createLazy } from "../../../kit/lazily.ts";

const CONFIGURED: readonly string[] = [...WITHHELD, "baseUrl", "base_url", "apiKey"];

// A message has 700 characters at most; several names can be unknown.
const MAX_KNOWN_CHARACTERS = 550;

const MAX_VALUE = 80;

const isRoot = (path: string): boolean => !/[.[]/.test(path);

const listKnown = (known: readonly string[]): string => {
  const names = known.join(", ");
  return names === "" || names.length > MAX_KNOWN_CHARACTERS ? "" : `; known: ${names}`;
};

/** Describes what a tool has instead of a name that it does not know. */
export const describeInstead = (name: string, known: readonly string[]): string =>
  `${offerNames(findNearest(name, known))}${listKnown(known)}`;

/**
 * Checks the arguments of a list that is empty.
 *
 * @throws {Problem} invalid_request for a value that is not a known one
 */
export const checkKnown = ({ name, known = {} }: OperationTool, args: Arguments): void => {
  const errors = Object.entries(known).flatMap(([field, values]): Fault[] => {
    const value = args[field];
    if (typeof value !== "string" || values.includes(value)) return [];
    const message = `has no value ${sanitizeLine(value, MAX_VALUE)}${describeInstead(value, values)}`;
    return [{ field, code: "unknown", message }];
  });
  if (errors.length > 0) throw badArguments(`${name}: ${formatFaults(errors)}`, errors);
};

/** Creates the fault of an argument that a tool does not have; `path` leads to it. */
export const createUnknownFault = (
  tool: Tool,
  { path, name, known }: { path: string; name: string; known: readonly string[] },
): Fault => {
  const fault = (message: string): Fault => ({ field: path, code: "unknown", message });
  if (CONFIGURED.includes(name)) {
    return fault("comes from the server's configuration and is not an argument");
  }
  const other = isRoot(path) ? findOtherWay(tool.name, name) : undefined;
  const instead =
    other === undefined ? describeInstead(name, known) : `; ${other}${listKnown(known)}`;
  return fault(`is not an argument${instead}`);
};

/** Opens the search of tools by words. It is loaded and its index built at the first use. */
export const openSearch = createLazy(async () => {
  const { createToolSearch } = await import("../listing/tool-search.ts");
  return createToolSearch();
});

const MOST = 3;
const MAX_NAME = 80;

/** Finds similar names, also with the words in the other order, and the tools that a search for the words finds. */
const suggestTools = async (sent: string, known: readonly string[]): Promise<string[]> => {
  const name = sent.slice(0, MAX_NAME);
  const other = findOtherTool(name);
  if (other !== undefined) return [other];
  const reversed = name.split("_").toReversed().join("_");
  const near = [...findNearest(name, known, 1), ...known.filter((one) => one === reversed)];
  const search = await openSearch();
  const found = search(name.replaceAll(/[._-]/g, " ")).filter((one) => known.includes(one));
  return [...new Set([...near, ...found])].slice(0, MOST);
};

/** Returns the end of a message about an unknown tool: those that the name may mean, or nothing. */
export const offerTools = async (name: string, known: readonly string[]): Promise<string> =>
  offerNames(await suggestTools(name, known));
