import fc from "fast-check";
import type { Pattern } from "./patterns.ts";

/** An attack on a pattern: a repeated text between a beginning and an end that does not match. */
export type Pump = { prefix: string; repeated: string; suffix: string };

export const pumped = ({ prefix, repeated, suffix }: Pump, size: number): string =>
  prefix + repeated.repeat(Math.ceil(size / repeated.length)) + suffix;

const CLASSES: Record<string, string> = {
  s: " ",
  d: "0",
  w: "a",
  n: "\n",
  r: "\r",
  t: "\t",
  b: "",
};
const COMMON = [" ", "a", "0", "<", "\n"];
const MISMATCH = "\u0000";
const ENDS = [MISMATCH, `\n${MISMATCH}`];
const MAX_PAIRED = 12;
const SAMPLES = 4;
const MAX_SAMPLE = 24;
const MAX_REPEATED = 2;

const ESCAPE = /\\(?:p\{(\w+)[^}]*\}|x([0-9a-f]{2})|u\{?([0-9a-f]{4,6})\}?|(.))/gis;

/** The characters that a pattern names; a class counts as one of its members. */
const charactersOf = ({ source }: Pattern): string[] => {
  const literal = source.replaceAll(
    ESCAPE,
    (_all, property?: string, byte?: string, point?: string, other = "") => {
      if (property !== undefined) return { L: "é", Lu: "É", N: "0", C: "\u0001" }[property] ?? "é";
      const code = byte ?? point;
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      return CLASSES[other] ?? other;
    },
  );
  return [...new Set([...COMMON, ...literal])];
};

/** Each character and word of the pattern repeated, each pair of characters repeated, and each one after another. */
const fromCharacters = (pattern: Pattern): Pump[] => {
  const characters = charactersOf(pattern);
  const words = pattern.source.match(/[A-Za-z]{2,}/g) ?? [];
  const paired = [...characters.slice(COMMON.length), ...COMMON].slice(0, MAX_PAIRED);
  const pairs = paired.flatMap((one) => paired.map((other) => [one, other] as const));
  const repeated = [...characters, ...words, ...words.map((word) => `${word} `)];
  return [
    ...[...repeated, ...pairs.map((pair) => pair.join(""))].map((text) => ["", text] as const),
    ...pairs,
  ].flatMap(([prefix, text]) => ENDS.map((suffix) => ({ prefix, repeated: text, suffix })));
};

/** The pattern without what the generator of matching texts does not support. */
const generable = (source: string): string =>
  source.replaceAll(/\(\?<?[=!]/g, "(?:").replaceAll(/\\b/gi, "");

/** Texts that match the pattern, or nearly; none where the generator does not support its syntax. */
const matches = ({ source, flags }: Pattern): string[] => {
  try {
    const options = { numRuns: SAMPLES, seed: 7 };
    const pattern = new RegExp(generable(source), flags.replaceAll(/[gyi]/g, ""));
    return fc.sample(fc.stringMatching(pattern), options);
  } catch {
    return [];
  }
};

const fromMatches = (pattern: Pattern): Pump[] =>
  matches(pattern).flatMap((match) =>
    Array.from({ length: Math.min(match.length, MAX_SAMPLE) }, (_, at) =>
      Array.from({ length: MAX_REPEATED }, (__, more) => ({
        prefix: match.slice(0, at),
        repeated: match.slice(at, at + more + 1),
        suffix: MISMATCH,
      })),
    ).flat(),
  );

/** Attacks on a pattern: its characters, words and pairs repeated, and each part of texts that match it. */
export const pumpsOf = (pattern: Pattern): Pump[] => {
  const pumps = [...fromCharacters(pattern), ...fromMatches(pattern)];
  return [...new Map(pumps.map((pump) => [JSON.stringify(pump), pump])).values()];
};
