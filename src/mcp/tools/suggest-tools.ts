import { findOtherTool } from "../../../tools/other-ways.ts";
import { createLazy } from "../../kit/lazily.ts";
import { findNearest, offerNames } from "../../kit/nearest.ts";

/** Opens the search of tools by words. It is loaded and its index built at the first use. */
export const openSearch = createLazy(async () => {
  const { createToolSearch } = await import("./tool-search.ts");
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
