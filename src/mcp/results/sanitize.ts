import { escapeMarkup } from "./markup.ts";
import { visibleUnits } from "./visible.ts";

/**
 * Makes text from outside safe to show: characters that are invisible, or that act on a terminal, are removed; what a
 * Markdown or HTML renderer would turn into a tag, link, picture or diagram is escaped, so that it is shown as text.
 * Everything else stays as it is, character for character.
 */

const PLAIN = /^[\x20-\x7e\n]*$/;
const MAY_BE_MARKUP = /[<[\]`~]/;

/** Returns the text without invisible characters and with its markup escaped. */
export const sanitizeText = (text: string): string =>
  PLAIN.test(text) && !MAY_BE_MARKUP.test(text) ? text : escapeMarkup(visibleUnits(text));

/** Returns the value with every text in it sanitized, keys included. */
export const sanitize = (value: unknown): unknown => {
  if (typeof value === "string") return sanitizeText(value);
  if (Array.isArray(value)) return value.map(sanitize);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [sanitizeText(key), sanitize(child)]),
  );
};

// Removed characters do not count against a line's length, within reason.
const MOST_READ = 8;

/** Returns sanitized text on one line, with `max` characters at most. */
export const sanitizeLine = (text: string, max: number): string => {
  const read = text.slice(0, max * MOST_READ);
  const line = [...sanitizeText(read).replace(/\s+/g, " ").trim()];
  const isCut = line.length > max || read.length < text.length;
  return isCut ? `${line.slice(0, max - 1).join("")}…` : line.join("");
};
