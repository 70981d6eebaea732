const ASCII = /^[\x20-\x7e]*$/;
const SEPARATORS = /[\s\u00AD\u2010-\u2015\u2212\uFEFF-]+/g;

// Zeros before the first digit, also after the letters of a prefix.
const PADDING = /^(\p{Lu}*)0+(?=.)/u;

// Zeros before a digit of the same part: the zero of `X-0-20` is a part of its own, not padding.
const PART_PADDING = /^([\p{Lu}\s\u00AD\u2010-\u2015\u2212\uFEFF-]*)0+(?=[\p{L}\p{N}])/u;
const DIGIT = /\p{N}/u;

// Most numbers are ASCII, which has no other forms.
const toUpper = (text: string): string =>
  (ASCII.test(text) ? text : text.normalize("NFKC")).toUpperCase();

/**
 * Returns the form in which numbers of documents are sought: without spaces, dashes, padding and letter case. Empty if
 * nothing of the text is left. Numbers of one key can differ, see {@link isSameNumber}.
 */
export const toNumberKey = (text: string): string =>
  toUpper(text).replaceAll(SEPARATORS, "").replace(PADDING, "$1");

type Parts = { joined: string; cuts: readonly number[] };

/** Joins the parts of a number; a cut is a place in the result where spaces or dashes were between digits. */
const joinParts = (text: string): Parts => {
  let joined = "";
  const cuts: number[] = [];
  for (const part of text.split(SEPARATORS)) {
    const isCut = DIGIT.test(joined.at(-1) ?? "") && DIGIT.test(part.charAt(0));
    if (isCut) cuts.push(joined.length);
    joined += part;
  }
  return { joined, cuts };
};

const isEqual = (one: Parts, other: Parts): boolean => {
  if (one.joined === "" || one.joined !== other.joined) return false;
  const [few, many] =
    one.cuts.length < other.cuts.length ? [one.cuts, other.cuts] : [other.cuts, one.cuts];
  return few.every((cut) => many.includes(cut));
};

/**
 * Returns whether two numbers of documents are the same: they differ in letter case, padding, and spaces and dashes that
 * one of them lacks. `X-0-20` and `X-2-0`, or `X-1-23` and `X-12-3`, have the same key and are different numbers.
 */
export const isSameNumber = (one: string, other: string): boolean => {
  if (one === other) return toNumberKey(one) !== "";
  const [first, second] = [toUpper(one), toUpper(other)];
  const [plain, otherPlain] = [joinParts(first), joinParts(second)];
  if (isEqual(plain, otherPlain)) return true;
  const [bare, otherBare] = [first, second].map((text) =>
    joinParts(text.trim().replace(PART_PADDING, "$1")),
  ) as [Parts, Parts];
  return isEqual(bare, otherBare);
};
