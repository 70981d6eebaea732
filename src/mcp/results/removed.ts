import { type Fields, isObject, isWithinBudget } from "./budget.ts";
import { countRemoved } from "./sanitize.ts";

/** A field of an answer, and the characters that were removed from its text. */
export type Removed = { field: string; characters: Record<string, number> };

/** The most fields and kinds of characters that a sentence names. */
const MAX_FIELDS = 5;
const MAX_KINDS = 5;
/** The largest cost of the sentence. */
const SENTENCE_TOKENS = 150;

/** Removed characters do not count against the length of a text, within reason. */
const MOST_READ = 4;

/** Finds the texts of an answer from which characters were removed, by comparing it with its source. */
export const findRemoved = (source: unknown, shown: unknown, path = ""): Removed[] => {
  if (typeof source === "string" && typeof shown === "string") {
    const counts = countRemoved(source.slice(0, shown.length * MOST_READ + 64));
    return counts.size === 0 ? [] : [{ field: path, characters: Object.fromEntries(counts) }];
  }
  if (!isObject(source) || !isObject(shown)) return [];
  const isList = Array.isArray(shown);
  return Object.entries(shown).flatMap(([name, child]: [string, unknown]) => {
    const inner = isList ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    return findRemoved((source as Fields)[name], child, inner);
  });
};

const describeField = ({ field, characters }: Removed): string => {
  const kinds = Object.entries(characters).map(([name, count]) =>
    count === 1 ? name : `${count} × ${name}`,
  );
  const more = kinds.length > MAX_KINDS ? " and others" : "";
  return `${field} (${kinds.slice(0, MAX_KINDS).join(", ")}${more})`;
};

/** Says which texts lack characters, so that they are not written back without them. */
export const describeRemoved = (removed: readonly Removed[]): string[] => {
  if (removed.length === 0) return [];
  const most = Math.min(removed.length, MAX_FIELDS);
  for (let named = most; named > 0; named -= 1) {
    const others = removed.length - named;
    const list = removed.slice(0, named).map(describeField).join(", ");
    const more = others === 0 ? "" : ` and ${others} more`;
    const sentence = `Characters that are not shown were removed from ${list}${more}. Do not write these texts back.`;
    if (isWithinBudget(sentence, SENTENCE_TOKENS)) return [sentence];
  }
  return ["Characters that are not shown were removed from texts. Do not write these back."];
};
