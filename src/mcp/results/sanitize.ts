import { escapeMarkup } from "./markup.ts";
import { visibleUnits } from "./visible.ts";

/**
 * Makes text from outside safe: characters that are invisible, or that act on a terminal, are removed. Everything else
 * stays as it is, character for character.
 *
 * - `shown`: for sentences and text parts. What a Markdown or HTML renderer would turn into a tag, link, picture or
 *   diagram is escaped, so that it is shown as text.
 * - `stored`: for structured values, which a caller may write back. Markup and line ends stay.
 */
export type Form = "shown" | "stored";

const PLAIN = /^[\x20-\x7e\n]*$/;
const MAY_BE_MARKUP = /[<[\]`~]/;

const toText = ({ buffer, byteOffset, length }: Uint16Array): string =>
  Buffer.from(buffer, byteOffset, length * 2).toString("utf16le");

/** Returns the text without invisible characters, and with its markup escaped if it is shown. */
export const sanitizeText = (text: string, form: Form = "shown"): string => {
  const isStored = form === "stored";
  if (PLAIN.test(text) && (isStored || !MAY_BE_MARKUP.test(text))) return text;
  return isStored
    ? toText(visibleUnits(text, { keepLineEnds: true }))
    : escapeMarkup(toText(visibleUnits(text)));
};

/** Returns the value with every text in it sanitized, keys included. */
export const sanitize = (value: unknown, form: Form = "stored"): unknown => {
  if (typeof value === "string") return sanitizeText(value, form);
  if (Array.isArray(value)) return value.map((child) => sanitize(child, form));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [sanitizeText(key, form), sanitize(child, form)]),
  );
};

/** Counts the characters that a structured value lacks, by name: `U+009D` or `a terminal sequence`. */
export const countRemoved = (text: string): Map<string, number> => {
  const counts = new Map<string, number>();
  if (PLAIN.test(text)) return counts;
  const onRemoved = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  visibleUnits(text, { keepLineEnds: true, onRemoved });
  return counts;
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
