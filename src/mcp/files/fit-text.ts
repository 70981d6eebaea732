import { sanitizeText } from "../results/sanitize.ts";
import { isWithinBudget } from "../results/budget.ts";

/** Sanitized text within a budget, and the number of characters or rows of the source in it. */
export type Fitted = { text: string; taken: number };

/** Removes what is invisible. Markup stays: structured values hold text as it is, and text parts escape it. */
const clean = (text: string): string => sanitizeText(text, "stored").replaceAll("\r\n", "\n");

/** No token has more characters, so a longer piece of a source is never sanitized. */
const CHARACTERS_PER_TOKEN = 8;

/** A cut at the end of a line or word may leave out so many characters. */
const MOST_LEFT_OUT = 200;

const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** Moves an index out of a surrogate pair. */
const atCharacter = (text: string, index: number): number =>
  index > 0 && index < text.length && isLow(text.charCodeAt(index)) ? index - 1 : index;

/** Moves the end of a text back to the end of a line, or else of a word, if one is near. */
const atBreak = (text: string, end: number): number => {
  if (end >= text.length) return end;
  const near = Math.max(1, end - MOST_LEFT_OUT);
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > near) return line;
  const word = text.lastIndexOf(" ", end - 1) + 1;
  return word > near ? word : atCharacter(text, end);
};

/** Returns the beginning of a source that fits a budget once it is sanitized. */
export const fitText = (source: string, tokens: number): Fitted => {
  const most = Math.min(source.length, Math.max(1, Math.floor(tokens * CHARACTERS_PER_TOKEN)));
  const fits = (end: number): string | undefined => {
    const text = clean(source.slice(0, end));
    return isWithinBudget(text, tokens) ? text : undefined;
  };
  const whole = most === source.length ? fits(most) : undefined;
  if (whole !== undefined) return { text: whole, taken: most };
  let [enough, tooMuch] = [0, most];
  while (tooMuch - enough > 1 + enough / 100) {
    const middle = (enough + tooMuch) >> 1;
    if (fits(middle) === undefined) tooMuch = middle;
    else enough = middle;
  }
  const taken = enough === 0 ? 0 : atBreak(source, enough);
  return { text: clean(source.slice(0, taken)), taken };
};

/** Rows within a budget as lines of one text, and how many they are. */
export const fitRows = (rows: readonly string[], tokens: number): Fitted => {
  const linesOf = (count: number): string => clean(rows.slice(0, count).join("\n"));
  const fits = (count: number): boolean => isWithinBudget(linesOf(count), tokens);
  if (fits(rows.length)) return { text: linesOf(rows.length), taken: rows.length };
  let [enough, tooMany] = [0, rows.length];
  while (tooMany - enough > 1) {
    const middle = (enough + tooMany) >> 1;
    if (fits(middle)) enough = middle;
    else tooMany = middle;
  }
  return { text: linesOf(enough), taken: enough };
};
