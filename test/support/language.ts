import { sources } from "./sources.ts";

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
