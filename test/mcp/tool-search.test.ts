import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createToolSearch } from "../../src/mcp/tools/listing/tool-search.ts";
import { acts, keywords } from "../../tools/keywords.ts";
import { toolsets } from "../../tools/index.ts";
import { verifies } from "../support/verifies.ts";

const FILE = new URL("../support/intents.tsv", import.meta.url);

type Intent = { tool: string; words: string };

/** Questions of analysts, each with the tool that answers it. */
const intents = readFileSync(FILE, "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Intent => {
    const [tool = "", words = ""] = line.split("\t");
    return { tool, words };
  });

// Every third line was held back while words and weights were chosen: one of each three of a tool.
const isHeldBack = (_intent: Intent, index: number): boolean => index % 3 === 2;

const search = createToolSearch();
const names = Object.values(toolsets)
  .flat()
  .map(({ name }) => name);

const missed = (list: Intent[]): Intent[] =>
  list.filter(({ tool, words }) => search(words)[0] !== tool);

const shareOf = (list: Intent[]): number => 1 - missed(list).length / list.length;

describe("the search of tools", () => {
  it("has different intents, at least three for each tool", () => {
    expect(new Set(intents.map(({ words }) => words)).size).toBe(intents.length);
    for (const name of names) {
      expect(intents.filter(({ tool }) => tool === name).length, name).toBeGreaterThanOrEqual(3);
    }
  });

  verifies("IN-62");
  it("finds the right tool first for at least 95 % of the intents", ({ annotate }) => {
    const held = intents.filter(isHeldBack);
    const others = intents.filter((intent, index) => !isHeldBack(intent, index));
    const shares = [intents, others, held].map((list) => `${(shareOf(list) * 100).toFixed(1)} %`);
    void annotate(`right tool first: ${shares.join(", ")} (all, tuned, held back)`);
    expect(shareOf(intents)).toBeGreaterThanOrEqual(0.95);
    expect(shareOf(held)).toBeGreaterThanOrEqual(0.9);
  });

  it("has the right tool among the first five for nearly every intent", () => {
    const lost = intents.filter(({ tool, words }) => !search(words).slice(0, 5).includes(tool));
    expect(lost.length / intents.length).toBeLessThanOrEqual(0.02);
  });

  it("finds each tool by its name and by its title", () => {
    for (const name of names) {
      expect(search(name)[0]).toBe(name);
      expect(search(name.replaceAll("_", " ")), name).toContain(name);
    }
  });

  it("gives the same order each time, in a new index too", () => {
    for (const { words } of intents.slice(0, 50))
      expect(createToolSearch()(words)).toEqual(search(words));
  });

  it("ignores letter case and forgives a typing error", () => {
    expect(search("LIST THE OPEN INVOICES")).toEqual(search("list the open invoices"));
    expect(search("delete the deparment with code A")[0]).toBe("departments_delete_by_code");
  });

  it("knows words of existing tools only", () => {
    expect(Object.keys(keywords).filter((name) => !names.includes(name))).toEqual([]);
    const known = new Set(names.flatMap((name) => name.split("_")));
    expect(Object.keys(acts).filter((act) => !known.has(act))).toEqual([]);
  });
});
