/**
 * How many tokens a text costs at most, without a tokenizer: the pieces that the common ones cut a text into, each at
 * the price of its worst likely case. Prose is overestimated, so an answer in budget stays in budget.
 */
const PIECES =
  /(?<letters>[A-Za-z]+(?![0-9]))|(?<mixed>[A-Za-z0-9]+)|(?<gap>\s+(?=\d))|(?<space>\s+)|(?<ascii>[!-/:-@[-`{-~]+)|(?<other>[\s\S])/gu;

const VOWELS = /[aeiouy]/gi;
const CAPITALS = /[a-z][A-Z]/g;

const letters = (word: string): number => {
  if (word.length <= 4) return 1;
  const parts = 1 + (word.match(CAPITALS)?.length ?? 0);
  const vowels = word.match(VOWELS)?.length ?? 0;
  const isWord = vowels / word.length > 0.24 && word.length / parts > 2.5 && word.length <= 40;
  return isWord ? Math.max(parts, Math.ceil(word.length / 5)) : word.length / 1.5;
};

const mixed = (run: string): number => {
  if (/^\d+$/.test(run)) return Math.ceil(run.length / 3);
  return Math.max(1, run.length / (/[a-z]/.test(run) && /[A-Z]/.test(run) ? 1.35 : 1.6));
};

// Kana, the common part of Han, hangul: other characters of this range cost twice that.
const COMMON_SCRIPTS = [
  [0x3040, 0x30ff],
  [0x4e00, 0x99ff],
  [0xac00, 0xd7a3],
] as const;

const other = (character: string): number => {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x800) return 1;
  if (COMMON_SCRIPTS.some(([from, to]) => point >= from && point <= to)) return 1.3;
  return point > 0xffff ? 4 : 2.5;
};

const price = (groups: Record<string, string | undefined>): number => {
  if (groups["letters"] !== undefined) return letters(groups["letters"]);
  if (groups["mixed"] !== undefined) return mixed(groups["mixed"]);
  if (groups["gap"] !== undefined) return groups["gap"].length;
  if (groups["space"] !== undefined) return Math.floor(groups["space"].length / 2);
  if (groups["ascii"] !== undefined) {
    const { length } = groups["ascii"];
    return length <= 2 ? 1 : length / 1.3;
  }
  return other(groups["other"] ?? "");
};

const MARGIN = 1.02;

export const estimateTokens = (text: string): number => {
  let sum = 0;
  for (const { groups } of text.matchAll(PIECES)) sum += price(groups ?? {});
  return Math.ceil(sum * MARGIN);
};

// What the dearest text costs a UTF-16 unit, and the margin.
const MOST_A_UNIT = 2.6;

/** Whether a text costs so many tokens at most; a short one is not counted. */
export const isWithin = (text: string, tokens: number): boolean =>
  text.length * MOST_A_UNIT <= tokens || estimateTokens(text) <= tokens;
