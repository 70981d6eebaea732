import fc from "fast-check";
import type { Pattern } from "./patterns.ts";

/** An attack on a pattern: something repeated between a beginning and an end that does not match. */
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
const USUAL = [" ", "a", "A", "0", "<", "\n"];
const ENDS = ["", "\u0000", "!"];
const MOST_PAIRED = 8;
const SAMPLES = 3;
const LONGEST_SAMPLE = 24;
const LONGEST_REPEATED = 3;

const ESCAPE = /\\(?:p\{(\w+)[^}]*\}|x([0-9a-f]{2})|u\{?([0-9a-f]{4,6})\}?|(.))/gis;

/** The characters that a pattern names, its classes by a member of each. */
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
  return [...new Set([...USUAL, ...literal])];
};

const fromCharacters = (pattern: Pattern): Pump[] => {
  const characters = charactersOf(pattern);
  const words = pattern.source.match(/[A-Za-z]{2,}/g) ?? [];
  const pairs = characters
    .slice(0, MOST_PAIRED)
    .flatMap((one) => characters.slice(0, MOST_PAIRED).map((other) => one + other));
  return [...characters, ...pairs, ...words, ...words.map((word) => `${word} `)].flatMap(
    (repeated) => ENDS.map((suffix) => ({ prefix: "", repeated, suffix })),
  );
};

/** Texts that match the pattern; none where the generator does not know its syntax. */
const matches = ({ source, flags }: Pattern): string[] => {
  try {
    const options = { numRuns: SAMPLES, seed: 7 };
    return fc.sample(fc.stringMatching(new RegExp(source, flags.replace(/[gy]/g, ""))), options);
  } catch {
    return [];
  }
};

const fromMatches = (pattern: Pattern): Pump[] =>
  matches(pattern).flatMap((match) =>
    Array.from({ length: Math.min(match.length, LONGEST_SAMPLE) }, (_, at) =>
      Array.from({ length: LONGEST_REPEATED }, (__, more) => ({
        prefix: match.slice(0, at),
        repeated: match.slice(at, at + more + 1),
        suffix: "\u0000",
      })),
    ).flat(),
  );

/** Attacks on a pattern: each of its characters, words and pairs repeated, and each part of texts that match it. */
export const pumpsOf = (pattern: Pattern): Pump[] => {
  const pumps = [...fromCharacters(pattern), ...fromMatches(pattern)];
  return [...new Map(pumps.map((pump) => [JSON.stringify(pump), pump])).values()];
};
