import { sanitizeText } from "../results/sanitize.ts";
import { isWithinBudget } from "../results/budget.ts";

const TEXT_TYPE = /^(text\/|message\/rfc822$)/;

/** Whether a file of this type is one to be read as text. */
export const isText = (mimeType: string): boolean => TEXT_TYPE.test(mimeType);

// A token has seldom more; what is read beyond the budget is only thrown away.
const BYTES_PER_TOKEN = 8;

/** The number of bytes of a text file that can fit a budget. */
export const textBytes = (budget: number): number => budget * BYTES_PER_TOKEN;

const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
};

/** A file's text, clean; a character that the end of the bytes cuts in two is left out. */
export const decoded = (bytes: Uint8Array): string =>
  sanitizeText(new TextDecoder(encodingOf(bytes)).decode(bytes, { stream: true }));

/** The most of a text's beginning that fits a budget. */
export const beginningOf = (text: string, budget: number): string => {
  if (isWithinBudget(text, budget)) return text;
  let [fits, most] = [0, text.length];
  while (most - fits > 1) {
    const middle = Math.floor((fits + most) / 2);
    if (isWithinBudget(text.slice(0, middle), budget)) fits = middle;
    else most = middle;
  }
  return text.slice(0, fits).toWellFormed();
};
