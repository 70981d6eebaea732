import { type Fields, isObject, isWithinBudget, type Shortened } from "./budget.ts";

/** The most lists and objects that a sentence names. */
const MAX_NAMED = 10;

/** Returns where a shortened record lacks items or fields, each with its path and counts. */
export const findCuts = ({ whole, shown }: Shortened, path: string): string[] => {
  const isList = Array.isArray(whole);
  const [all, left] = [Object.keys(whole).length, Object.keys(shown).length];
  const here = left < all ? [`${path} has ${left} of ${all}${isList ? "" : " fields"}`] : [];
  const within = Object.entries(shown).flatMap(([name, child]: [string, unknown]) => {
    const source: unknown = (whole as Fields)[name];
    if (!isObject(child) || !isObject(source)) return [];
    return findCuts(
      { whole: source, shown: child },
      isList ? `${path}[${name}]` : `${path}.${name}`,
    );
  });
  return [...here, ...within];
};

/** Whether a text of a shortened record was cut. */
export const hasCutText = ({ shown }: Shortened): boolean =>
  /… \[\d+ more characters\]/.test(JSON.stringify(shown));

/** Returns a sentence of so many tokens at most about what was left out, with the way to the rest. */
export const describeCuts = (cuts: readonly string[], rest: string, tokens: number): string[] => {
  if (cuts.length === 0) return [];
  for (let named = Math.min(cuts.length, MAX_NAMED); named > 0; named -= 1) {
    const others = cuts.length - named;
    const list = cuts.slice(0, named).join(", ") + (others === 0 ? "" : ` and ${others} more`);
    const sentence = `Left out to fit: ${list}; ${rest}.`;
    if (isWithinBudget(sentence, tokens)) return [sentence];
  }
  return [`Items or fields were left out to fit; ${rest}.`];
};
