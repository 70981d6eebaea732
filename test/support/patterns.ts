import { parseSync, Visitor } from "oxc-parser";
import { sources } from "./sources.ts";

/** A regular expression of the sources, and its file and line. */
export type Pattern = { place: string; source: string; flags: string };

const FOLDERS = ["src", "tools", "prompts"];

type Found = { literals: Pattern[]; constructed: string[] };

/** All regular expressions that the sources write as literals, and the files that construct others from text. */
export const patternsOfSources = (): Found => {
  const literals: Pattern[] = [];
  const constructed = new Set<string>();
  for (const { path, text } of FOLDERS.flatMap(sources)) {
    const placeOf = (at: number): string => `${path}:${text.slice(0, at).split("\n").length}`;
    const noteCall = (callee: object): void => {
      if ("name" in callee && callee.name === "RegExp") constructed.add(path);
    };
    new Visitor({
      Literal(node) {
        if (!("regex" in node)) return;
        const { pattern: source, flags } = node.regex;
        literals.push({ place: placeOf(node.start), source, flags });
      },
      NewExpression: ({ callee }) => noteCall(callee),
      CallExpression: ({ callee }) => noteCall(callee),
    }).visit(parseSync(path, text).program);
  }
  return { literals, constructed: [...constructed].toSorted() };
};
