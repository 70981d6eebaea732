import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.ts";
import { sources } from "./support/sources.ts";

const TITLE = /\b(?:it|test|describe)(?:\.\w+(?:\([^()]*\))?)*\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g;

const prefixes = new Set(requirements.map(({ id }) => id.split("-")[0] ?? ""));
const ID = new RegExp(`(?<![\\w-])(?:${[...prefixes].join("|")})-\\d{2}\\b`, "g");

/** The ids in the titles of a test file's tests. */
const citedIn = (text: string): string[] =>
  [...text.matchAll(TITLE)].flatMap(([, , title = ""]) => title.match(ID) ?? []);

const files = sources("test").filter(({ path }) => path.endsWith(".test.ts"));
const cited = new Map(files.map(({ path, text }) => [path, new Set(citedIn(text))]));
const known = new Set(requirements.map(({ id }) => id));

describe("the acceptance list", () => {
  it("names each requirement once", () => {
    expect(requirements).toHaveLength(299);
    expect(known.size).toBe(requirements.length);
  });

  it("finds citations in titles alone", () => {
    // Built from parts, so that this file cites nothing itself.
    const [a, b, c] = ["01", "02", "03"].map((number) => `KEY-${number}`);
    const text = `it("${a} and ${b}: x", () => {}); // ${c}\nit.each([1])(\n  "${c}", f);\nconst x = "KEY-09";`;
    expect(citedIn(text)).toEqual([a, b, c]);
  });

  it("has a test for everything", () => {
    const all = new Set([...cited.values()].flatMap((ids) => [...ids]));
    const missing = requirements.filter(({ id }) => !all.has(id));
    expect(missing.map(({ id, what }) => `${id} ${what}`)).toEqual([]);
  });

  it("is what tests cite, and nothing else", () => {
    const unknown = [...cited].flatMap(([path, ids]) =>
      [...ids].filter((id) => !known.has(id)).map((id) => `${path}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });
});
