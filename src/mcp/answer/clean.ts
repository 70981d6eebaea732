/**
 * Text from outside as data that can be shown: what a person could not see, or what would act on a terminal,
 * a renderer or a model's view of the text, is taken out. Records stay what they are, character for character,
 * in everything visible.
 */

// Terminal sequences first, while their escape character is still there to find them by.
const TERMINAL =
  // oxlint-disable-next-line no-control-regex -- these characters are the ones to find
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b[PX^_]|[\u0090\u0098\u009e\u009f])[^\u001b\u009c]*(?:\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;

// Control, format (bidi, zero width, tags), line separators, private use, lone surrogates, unassigned; then what Unicode
// says to ignore in display (fillers, variation selectors), and two characters that are blank without saying so.
const INVISIBLE = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu;

// A renderer would fetch these from an address of the text's own choosing.
const MARKDOWN_IMAGE = /!(?=\[)/g;
const ACTIVE_HTML =
  /<(?=\s*\/?\s*(?:img|image|picture|source|svg|video|audio|track|iframe|frame|object|embed|link|script|style|base|meta|form|input|portal)\b)/gi;

const PLAIN = /^[\x20-\x7e]*$/;
const MAY_ACT = /!\[|</;

export const cleanText = (text: string): string => {
  if (PLAIN.test(text) && !MAY_ACT.test(text)) return text;
  return text
    .replace(/\r\n?/g, "\n")
    .replace(TERMINAL, "")
    .replace(INVISIBLE, "")
    .replace(MARKDOWN_IMAGE, "!\\")
    .replace(ACTIVE_HTML, "&lt;");
};

/** A value with every text in it clean, keys included. */
export const clean = (value: unknown): unknown => {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [cleanText(key), clean(child)]),
  );
};

/** Clean text on one line and of bounded length, for sentences. */
export const cleanLine = (text: string, max: number): string => {
  const line = [...cleanText(text).replace(/\s+/g, " ").trim()];
  return line.length > max ? `${line.slice(0, max - 1).join("")}…` : line.join("");
};
