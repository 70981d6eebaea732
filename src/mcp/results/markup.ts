/**
 * Escapes what begins markup:
 *
 * - `<`, as `&lt;`: HTML tags, comments, autolinks and mentions. It stays before a number or an operator, as in `< 100`
 *   and `<=`, and at the end.
 * - `![`, as `!\[`: pictures, which a renderer fetches by itself.
 * - `](`, as `]\(`: links.
 * - `]:`, as `]\:`: the definitions that links by reference resolve to.
 * - three or more backticks or tildes, each after a backslash: fenced blocks, which some hosts render as diagrams with
 *   links and pictures of their own.
 *
 * CommonMark shows a character after a backslash as it is. The backslash stands between the two characters, where no
 * other backslash can disarm it.
 */

const MARKUP = /<(?! ?(?:[\d.,=+$-]|$))|!(?=\[)|\](?=[(:])|`{3,}|~{3,}/g;

const escape = (found: string): string => {
  if (found === "<") return "&lt;";
  return found.length === 1 ? `${found}\\` : found.replaceAll(/./g, "\\$&");
};

/** The text with what begins markup escaped. */
export const escapeMarkup = (text: string): string => text.replaceAll(MARKUP, escape);
