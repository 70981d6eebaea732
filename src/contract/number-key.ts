const ASCII = /^[\x20-\x7e]*$/;
const SEPARATORS = /[\s\u00AD\u2010-\u2015\u2212\uFEFF-]+/g;

// Zeros before the first digit, also after the letters of a prefix.
const PADDING = /^(\p{Lu}*)0+(?=.)/u;

/**
 * Returns the form in which numbers of documents are compared: without spaces, dashes, padding and letter case.
 * Empty if nothing of the text is left.
 */
export const toNumberKey = (text: string): string => {
  // Most numbers are ASCII, which has no other forms.
  const upper = (ASCII.test(text) ? text : text.normalize("NFKC")).toUpperCase();
  return upper.replaceAll(SEPARATORS, "").replace(PADDING, "$1");
};
