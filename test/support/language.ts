import { type BindingPattern, type ParamPattern, parseSync, Visitor } from "oxc-parser";
import { type Source, sources } from "./sources.ts";

/** A comment or a test title, and where it starts. */
export type Sentence = { path: string; line: number; kind: "comment" | "title"; text: string };

/** Words that CONTRIBUTING.md's glossary replaces. */
const WORDS =
  /\b(?:who(?:so)?ever|whatever|whichever|nobody|somebody|anybody|anew|thereof|whereof|bears?|borne|stands? (?:in|for|beside|above|below|behind|under)|(?:do(?:es)?|did) no harm|what (?:is|was) kept|what came in|is worth nothing|does what it does|shall|thus|strangers?|doors?|told|heard|tells? of|speaks? of|knows? of|of ours|let(?:s)? go of|twins?|dressed|looked at|asked for it|goodbye)\b/i;

/** Openings that leave the subject unnamed. */
const OPENING = /^(?:what(?! is\b.*\?)|who(?:se|m)?|where|how|which)\b/i;

/** Whether a sentence is in the dialect that the glossary replaces. */
export const isRefused = (text: string): boolean => WORDS.test(text) || OPENING.test(text);

const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length;

const BLOCK = /(?<=^|\s)\/\*\*?([\s\S]*?)\*\//gm;
const LINES = /(?:^[ \t]*\/\/.*\n)+|(?<=\s)\/\/ .*$/gm;
const TITLE = /\b(?:it|describe)(?:\.\w+(?:\([^()\n]*\))?)*\(\s*(["'`])((?:\\.|(?!\1).)*)\1/g;

const clean = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(/^\s*(?:\/\/|\*(?!\/))?\s?/, ""))
    .join(" ")
    .trim();

const isPragma = (text: string): boolean => /^(?:oxlint|@ts|eslint|istanbul|v8 )/.test(text);

/** The comments of the code and the titles of the tests. */
export const sentences = (folders: readonly string[]): Sentence[] =>
  folders.flatMap(sources).flatMap(({ path, text }) => {
    const found = [
      ...[...text.matchAll(BLOCK)].map((match) => ({
        match,
        kind: "comment" as const,
        raw: match[1] ?? "",
      })),
      ...[...text.matchAll(LINES)].map((match) => ({
        match,
        kind: "comment" as const,
        raw: match[0],
      })),
      ...(path.endsWith(".test.ts") ? [...text.matchAll(TITLE)] : []).map((match) => ({
        match,
        kind: "title" as const,
        raw: match[2] ?? "",
      })),
    ];
    return found
      .map(({ match, kind, raw }) => ({
        path,
        line: lineOf(text, match.index),
        kind,
        text: clean(raw),
      }))
      .filter((sentence) => sentence.text.length > 0 && !isPragma(sentence.text));
  });

/** Names that CONTRIBUTING.md's glossary replaces: participles and verbs that do not say what a value is. */
const REFUSED_NAMES = new Set(
  "asked asking asks anew dressed door got goodbye heard hears meant moment said say says sought spent stranger tell tells told twin want wanted wants whatever whoever wish".split(
    " ",
  ),
);

type Pattern = ParamPattern | BindingPattern | null;

/** The names that a pattern of a parameter or a variable binds. */
const boundNames = (pattern: Pattern): { name: string; start: number }[] => {
  switch (pattern?.type) {
    case "Identifier":
      return [pattern];
    case "AssignmentPattern":
      return boundNames(pattern.left);
    case "ArrayPattern":
      return pattern.elements.flatMap((one) => boundNames(one as Pattern));
    case "ObjectPattern":
      return pattern.properties.flatMap((one) =>
        boundNames((one.type === "RestElement" ? one.argument : one.value) as Pattern),
      );
    case "RestElement":
      return boundNames(pattern.argument);
    case "TSParameterProperty":
      return boundNames(pattern.parameter);
    default:
      return [];
  }
};

/** The names of variables, parameters and functions of a file that are refused, with their lines. */
export const refusedNames = ({ path, text }: Source): string[] => {
  const refused: string[] = [];
  const check = (...patterns: Pattern[]): void => {
    for (const { name, start } of patterns.flatMap(boundNames)) {
      if (REFUSED_NAMES.has(name)) refused.push(`${path}:${lineOf(text, start)}: ${name}`);
    }
  };
  new Visitor({
    VariableDeclarator: ({ id }) => check(id),
    FunctionDeclaration: ({ id, params }) => check(id, ...params),
    FunctionExpression: ({ params }) => check(...params),
    ArrowFunctionExpression: ({ params }) => check(...params),
    CatchClause: ({ param }) => check(param),
  }).visit(parseSync(path, text).program);
  return refused;
};
