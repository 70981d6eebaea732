import { sanitize, sanitizeText } from "./sanitize.ts";
import { estimateTokens, isWithin } from "./tokens.ts";

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

export const cost = (value: unknown): number => estimateTokens(textOf(value));

/** Whether the JSON of a value costs so many tokens at most. */
export const isWithinBudget = (value: unknown, tokens: number): boolean =>
  isWithin(textOf(value), tokens);

/** No text has more characters per token, by {@link estimateTokens}. */
const MAX_CHARACTERS_PER_TOKEN = 8;

/** The most characters of a text, and the most items of a list. */
type Step = readonly [text: number, items: number];

const WHOLE: Step = [Infinity, Infinity];

/** The number of characters in the texts and keys of a value after a step, counted until there are more than `most`. */
const lengthAfter = (value: unknown, step: Step, most: number): number => {
  const [text, items] = step;
  if (typeof value === "string") return Math.min(value.length, text);
  if (typeof value !== "object" || value === null) return 1;
  let length = 0;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && at < items && length <= most; at += 1) {
      length += 1 + lengthAfter(value[at], step, most - length);
    }
    return length;
  }
  for (const [key, child] of Object.entries(value)) {
    length += key.length + lengthAfter(child, step, most - length);
    if (length > most) break;
  }
  return length;
};

/** Whether a value may fit after a step. A value for which this is false is never sanitized whole. */
const mayFit = (value: unknown, step: Step, tokens: number): boolean => {
  const most = tokens * MAX_CHARACTERS_PER_TOKEN;
  return lengthAfter(value, step, most) <= most;
};

/** Returns the sanitized value if it costs so many tokens at most. */
export const sanitizeWithin = <T extends object>(value: T, tokens: number): T | undefined => {
  if (!mayFit(value, WHOLE, tokens)) return undefined;
  const sanitized = sanitize(value) as T;
  return isWithinBudget(sanitized, tokens) ? sanitized : undefined;
};

/** The index after so many characters; a surrogate pair is one character. */
const indexAfter = (text: string, most: number): number => {
  if (text.length <= most) return text.length;
  let at = 0;
  for (let count = 0; at < text.length && count < most; count += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
};

const countFrom = (text: string, from: number): number => {
  let count = 0;
  for (let at = from; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) {
    count += 1;
  }
  return count;
};

/** The sanitized beginning of a text, and how many characters follow it. */
class Beginning {
  readonly text: string;
  readonly more: number;

  constructor(text: string, most: number) {
    const end = indexAfter(text, most);
    this.text = sanitizeText(text.slice(0, end));
    this.more = countFrom(text, end);
  }

  cut(most: number): string {
    const end = indexAfter(this.text, most);
    const more = this.more + countFrom(this.text, end);
    return more === 0 ? this.text : `${this.text.slice(0, end)}… [${more} more characters]`;
  }
}

/** Cuts a value's texts and lists, then sanitizes its keys and what is left of its texts. */
const beginningOf = (value: unknown, step: Step): unknown => {
  const [text, items] = step;
  if (typeof value === "string") return new Beginning(value, text);
  if (Array.isArray(value)) return value.slice(0, items).map((one) => beginningOf(one, step));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [sanitizeText(key), beginningOf(child, step)]),
  );
};

const shortened = (value: unknown, step: Step): unknown => {
  const [text, items] = step;
  if (value instanceof Beginning) return value.cut(text);
  if (Array.isArray(value)) return value.slice(0, items).map((one) => shortened(one, step));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, shortened(child, step)]),
  );
};

// From gentle to harsh; the last ones give up the record's lists too.
const STEPS: readonly Step[] = [
  WHOLE,
  ...[16_000, 8000, 4000, 2000, 1000, 500, 250, 120].map((text) => [text, Infinity] as const),
  ...[1000, 250, 50, 10, 3, 0].map((items) => [60, items] as const),
];

export type Fields = Record<string, unknown>;

export type Fitted = {
  record: Fields;
  cut: boolean;
  /** How many items lists have at most, where some may have lost more. */
  most?: number;
};

/** The length of the longest text; a text that was cut already counts as endless. */
const longestIn = (value: unknown): number => {
  if (value instanceof Beginning) return value.more > 0 ? Infinity : value.text.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((most: number, one) => Math.max(most, longestIn(one)), 0);
};

const LAST: Step = [60, 0];

/**
 * Returns a sanitized record within its budget: whole, or with long texts cut where they say so themselves. Texts are cut
 * before they are sanitized to as many characters as could fit, so that the work depends on the budget.
 */
export const truncateToBudget = (record: Fields, budget: number): Fitted => {
  const from = STEPS.findIndex((step) => mayFit(record, step, budget));
  const steps = from === -1 ? [] : STEPS.slice(from);
  const source = steps[0] === undefined ? {} : beginningOf(record, steps[0]);
  const longest = longestIn(source);
  for (const step of steps) {
    const [text, items] = step;
    // Such a step changes nothing.
    if (step !== steps[0] && items === Infinity && longest <= text) continue;
    const shorter = shortened(source, step) as Fields;
    if (!isWithinBudget(shorter, budget)) continue;
    return { record: shorter, cut: step !== WHOLE, ...(items === Infinity ? {} : { most: items }) };
  }
  const first = Object.fromEntries(Object.entries(record).slice(0, 1));
  return { record: shortened(beginningOf(first, LAST), LAST) as Fields, cut: true };
};

/** Divides a budget: no share exceeds its demand, and unused parts go to the larger demands. */
export const fairShares = (wants: readonly number[], budget: number): number[] => {
  const shares = wants.map(() => 0);
  let left = budget;
  const modestFirst = [...wants.entries()].toSorted(([, a], [, b]) => a - b);
  for (const [served, [index, want]] of modestFirst.entries()) {
    const share = Math.min(want, Math.floor(left / (wants.length - served)));
    shares[index] = share;
    left -= share;
  }
  return shares;
};

/** Sanitizes and takes records while they fit; the first one always does, shortened if need be. */
export const createBasket = (budget: number) => {
  const items: Fields[] = [];
  let left = budget;
  let cut = false;
  return {
    items,
    add(item: Fields): boolean {
      const whole = sanitizeWithin(item, left - 1);
      if (whole !== undefined) {
        left -= cost(whole) + 1;
        items.push(whole);
        return true;
      }
      if (items.length > 0) return false;
      const fitted = truncateToBudget(item, left);
      items.push(fitted.record);
      left = 0;
      cut = true;
      return true;
    },
    get left() {
      return left;
    },
    /** Whether a text of the only record was cut. */
    get cut() {
      return cut;
    },
  };
};
