/**
 * The beginnings of markup: `<` unless a number or an operator follows, `![`, `](`, `]:`, and three or more backticks or
 * tildes. The same as in markup.ts, which says why.
 */
const MARKUP = /<(?! ?[\d.,=+$"-])|!(?=\[)|(?<=\])[(:]|`{3,}|~{3,}/g;
const MAY_BE_MARKUP = /[<[\]`~]/;

const toEscapes = (characters: string): string =>
  [...characters].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/**
 * Returns a value as JSON in which markup is written by escapes, such as `\u003c`. A renderer of Markdown or HTML makes no
 * tag, link, picture or diagram of it, and every reader of JSON gets the text as it is. All of these characters occur
 * within strings only.
 */
export const toJsonText = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "";
  return MAY_BE_MARKUP.test(text) ? text.replace(MARKUP, toEscapes) : text;
};
