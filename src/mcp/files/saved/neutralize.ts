/** Characters that do not show, or show as space: programs skip some of them before they read a formula. */
const BLANK = /[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The first characters of formulas, and the minus sign of typography. */
const FORMULA = new Set(["=", "+", "-", "@", "\u2212"]);

/** Characters at the start that let the rest of a text become a cell of its own. */
const SEPARATES = new Set(["\t", "\r", "\n"]);

/** A plain number, also with marks of groups, a power of ten or a percent sign: nothing in it can be computed. */
const NUMBER = /^[+-]?\d[\d.,]{0,60}(?:e[+-]?\d{1,3})?%?$/i;

/** Whether a spreadsheet may read a text as a formula, also in another width or after characters that do not show. */
export const isRisky = (text: string): boolean => {
  if (SEPARATES.has(text.charAt(0))) return true;
  if (NUMBER.test(text.trim())) return false;
  for (const character of text) {
    if (BLANK.test(character)) continue;
    // The full-width and small forms of a character are equal to it in compatibility decomposition.
    return FORMULA.has(character.normalize("NFKC").charAt(0));
  }
  return false;
};

/** Returns a text that no spreadsheet reads as a formula: with an apostrophe before it, where it might be one. */
export const neutralizeText = (text: string): string => (isRisky(text) ? `'${text}` : text);

const SEPARATOR = /([;\t\r\n]+)/;

/**
 * Neutralizes also the parts of a text that become cells of their own where the list separator is a semicolon or a tab,
 * because such programs do not read the quotes around it.
 */
export const neutralizeParts = (text: string): string => {
  if (!SEPARATOR.test(text)) return text;
  const [first = "", ...rest] = text.split(SEPARATOR);
  return [
    first,
    ...rest.map((part, place) => (place % 2 === 0 ? part : neutralizeText(part))),
  ].join("");
};
