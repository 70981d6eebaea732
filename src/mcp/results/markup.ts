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

const TAG = /<(?! ?(?:[\d.,=+$-]|$))/g;
const BEFORE_BRACKET = /!(?=\[)|\](?=[(:])/g;
const FENCE = /`{3,}|~{3,}/g;

/** The text with what begins markup escaped. */
export const escapeMarkup = (text: string): string =>
  text
    .replaceAll(TAG, "&lt;")
    .replaceAll(BEFORE_BRACKET, "$&\\")
    .replaceAll(FENCE, (run) => `\\${run.charAt(0)}`.repeat(run.length));
