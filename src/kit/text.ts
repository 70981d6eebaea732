/** The text without these characters at its end. A pattern such as `/\/+$/` takes quadratic time for it. */
export const trimEndOf = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
};

/** The text before the first of these characters. */
export const textBefore = (text: string, characters: string): string => {
  for (let at = 0; at < text.length; at += 1) {
    if (characters.includes(text.charAt(at))) return text.slice(0, at);
  }
  return text;
};

// Characters are Unicode code points, each of one or two UTF-16 units. Spreading a long text takes a while.

/** Whether a text has more than so many characters. */
export const hasMoreCharacters = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most);

/** Returns the first so many characters of a text. */
export const firstCharacters = (text: string, most: number): string =>
  Array.from(text.slice(0, 2 * most))
    .slice(0, most)
    .join("");

// Control characters but tab and line feed, and those that change the direction of text or end a line.
const ACTING = /[[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]--[\n\t]]/gv;

/** Returns text for a terminal: characters that act on one, or reorder what is shown, become escapes as in JSON. */
export const escapeControls = (text: string): string =>
  text.replace(ACTING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
