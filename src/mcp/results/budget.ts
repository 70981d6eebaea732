import type { Brief } from "../../contract/operation.ts";
import { toJsonText } from "./json-text.ts";
import { sanitize, sanitizeText } from "./sanitize.ts";
import { estimateTokens, isWithin } from "./tokens.ts";

/** A budget of 6,000 tokens has 25,000 characters: hosts cut longer texts even if they cost few tokens. */
const CHARACTERS_PER_TOKEN = 25 / 6;

/** Returns what the JSON of a value takes of a budget: its tokens, or its characters if they are more. */
export const cost = (value: unknown): number => {
  const text = toJsonText(value);
  return Math.max(estimateTokens(text), Math.ceil(text.length / CHARACTERS_PER_TOKEN));
};

/** Whether the JSON of a value is within a budget of so many tokens. */
export const isWithinBudget = (value: unknown, tokens: number): boolean => {
  const text = toJsonText(value);
  return text.length <= tokens * CHARACTERS_PER_TOKEN && isWithin(text, tokens);
};

/** No text has more characters per token, by {@link estimateTokens}. */
const MAX_CHARACTERS_PER_TOKEN = 8;

/** The most characters of a text, items of a list, and fields of an object. */
export type Step = readonly [text: number, items: number, fields: number];

const WHOLE: Step = [Infinity, Infinity, Infinity];

/** Whether a value is an object or a list. */
export const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

/** The first fields of an object. Unlike `Object.entries`, costs little for the fields that are left out. */
const firstFields = (value: object, most: number): [string, unknown][] => {
  const names = Object.keys(value);
  return (names.length > most ? names.slice(0, most) : names).map((name) => [
    name,
    (value as Fields)[name],
  ]);
};

/** The number of characters in the texts and keys of a value after a step, counted until there are more than `most`. */
const lengthAfter = (value: unknown, step: Step, most: number): number => {
  const [text, items, fields] = step;
  if (typeof value === "string") return Math.min(value.length, text);
  if (!isObject(value)) return 1;
  let length = 0;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && at < items && length <= most; at += 1) {
      length += 1 + lengthAfter(value[at], step, most - length);
    }
    return length;
  }
  const names = Object.keys(value);
  for (let at = 0; at < names.length && at < fields && length <= most; at += 1) {
    const name = names[at] ?? "";
    length += name.length + lengthAfter((value as Fields)[name], step, most - length);
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
    this.text = sanitizeText(text.slice(0, end), "stored");
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
  const [text, items, fields] = step;
  if (typeof value === "string") return new Beginning(value, text);
  if (Array.isArray(value)) return value.slice(0, items).map((one) => beginningOf(one, step));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    firstFields(value, fields).map(([key, child]) => [
      sanitizeText(key, "stored"),
      beginningOf(child, step),
    ]),
  );
};

const shortened = (value: unknown, step: Step): unknown => {
  const [text, items, fields] = step;
  if (value instanceof Beginning) return value.cut(text);
  if (Array.isArray(value)) return value.slice(0, items).map((one) => shortened(one, step));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    firstFields(value, fields).map(([key, child]) => [key, shortened(child, step)]),
  );
};

/** Cuts a value to a step's limits, then sanitizes what is left of it. */
export const sanitizeBeginning = (value: unknown, step: Step): unknown =>
  shortened(beginningOf(value, step), step);

const TEXT_STEPS: readonly Step[] = [16_000, 8000, 4000, 2000, 1000, 500, 250, 120].map(
  (text) => [text, Infinity, Infinity] as const,
);

// From gentle to harsh: texts, then the record's lists, then the fields of its objects.
const STEPS: readonly Step[] = [
  ...TEXT_STEPS,
  ...[1000, 500, 250, 120, 60, 40, 30, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2, 1, 0].map(
    (items) => [60, items, Infinity] as const,
  ),
  ...[1000, 250, 50, 30, 20, 15, 12, 10, 8, 6, 4, 3].map((fields) => [60, 0, fields] as const),
];

export type Fields = Record<string, unknown>;

export type Fitted = {
  record: Fields;
  cut: boolean;
  /** The most items that a list kept; some lists may have had more. */
  most?: number;
  /** The most fields that an object kept; some objects may have had more. */
  mostFields?: number;
};

/** The longest text, list and object in a value; a text that was cut already counts as endless. */
const largestIn = (value: unknown, largest: [...Step] = [0, 0, 0]): Step => {
  if (value instanceof Beginning) {
    largest[0] = Math.max(largest[0], value.more > 0 ? Infinity : value.text.length);
  } else if (isObject(value)) {
    const children: unknown[] = Object.values(value);
    const kind = Array.isArray(value) ? 1 : 2;
    largest[kind] = Math.max(largest[kind], children.length);
    for (const child of children) largestIn(child, largest);
  }
  return largest;
};

const MAX_NAME = 60;
const LAST: Step = [MAX_NAME, 0, 0];

/** The index of the first step after which a record may fit. Each step leaves less than the one before it. */
const firstStep = (record: Fields, budget: number, steps: readonly Step[]): number => {
  let [from, to] = [0, steps.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (mayFit(record, steps[middle] ?? LAST, budget)) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** The first field alone, without the contents of a list or an object. */
const firstField = (record: Fields): Fields =>
  Object.fromEntries(
    firstFields(record, 1).map(([name, value]) => [
      sanitizeText(name.slice(0, MAX_NAME), "stored"),
      sanitizeBeginning(value, LAST),
    ]),
  );

const fitted = (record: Fields, step: Step): Fitted => {
  const [, items, fields] = step;
  return {
    record,
    cut: true,
    ...(items === Infinity ? {} : { most: items }),
    ...(fields === Infinity ? {} : { mostFields: fields }),
  };
};

/** Returns the sanitized record after the first of the steps that leaves it within its budget. */
const fitBySteps = (record: Fields, budget: number, all: readonly Step[]): Fitted | undefined => {
  const whole = sanitizeWithin(record, budget);
  if (whole !== undefined) return { record: whole, cut: false };
  const steps = all.slice(firstStep(record, budget, all));
  const [first] = steps;
  const source = first === undefined ? {} : beginningOf(record, first);
  const largest = largestIn(source);
  const changesNothing = (step: Step): boolean =>
    step.every((most, kind) => most >= (largest[kind] ?? 0));
  for (const step of steps) {
    if (step !== first && changesNothing(step)) continue;
    const shorter = shortened(source, step) as Fields;
    if (isWithinBudget(shorter, budget)) return fitted(shorter, step);
  }
  return undefined;
};

/**
 * Returns a sanitized record within its budget: whole, or with long texts cut where they say so themselves. Texts are cut
 * before they are sanitized to as many characters as could fit, so that the work depends on the budget.
 */
export const truncateToBudget = (record: Fields, budget: number): Fitted =>
  fitBySteps(record, budget, STEPS) ?? {
    record: firstField(record),
    cut: true,
    most: 0,
    mostFields: 1,
  };

/** The length up to which a text counts in a list: longer ones are cut before the list is. */
const LISTED: Step = [120, Infinity, Infinity];

/** The search for the length of lists ends within a tenth of it: each attempt takes a millisecond or more. */
const LIST_PRECISION = 10;

/** Shortens each list to its first items of so many characters together. */
const cutLists = (value: unknown, most: number): unknown => {
  if (!isObject(value)) return value;
  if (!Array.isArray(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, cutLists(child, most)]),
    );
  }
  const included: unknown[] = [];
  let left = most;
  for (const child of value) {
    const shorter = cutLists(child, most);
    left -= lengthAfter(shorter, LISTED, left);
    if (left < 0) break;
    included.push(shorter);
  }
  return included;
};

/** Returns a record within its budget. Long texts are cut first, then long lists, and short lists such as totals last. */
const fitLists = (record: Fields, budget: number): Fields => {
  const whole = fitBySteps(record, budget, TEXT_STEPS);
  if (whole !== undefined) return whole.record;
  const most = Math.floor(budget * CHARACTERS_PER_TOKEN);
  // No list of more characters fits, so each attempt takes time by the budget and not by the record.
  const source = cutLists(record, most);
  const fitWith = (characters: number): Fields | undefined => {
    const shorter = cutLists(source, characters);
    if (!mayFit(shorter, LISTED, budget)) return undefined;
    const sanitized = sanitizeBeginning(shorter, LISTED) as Fields;
    return isWithinBudget(sanitized, budget) ? sanitized : undefined;
  };
  let best = fitWith(0);
  if (best === undefined) return truncateToBudget(record, budget).record;
  let [fits, exceeds] = [0, most];
  while (exceeds - fits > 1 + fits / LIST_PRECISION) {
    const middle = (fits + exceeds) >> 1;
    const shorter = fitWith(middle);
    if (shorter === undefined) exceeds = middle;
    else [best, fits] = [shorter, middle];
  }
  return best;
};

/** Returns a record within its budget, in its short form if it has one and does not fit whole. */
export const fitRecord = (
  record: Fields,
  brief: Pick<Brief, "shorten"> | null,
  budget: number,
): Fitted => {
  const whole = truncateToBudget(record, budget);
  if (!whole.cut || brief === null) return whole;
  return truncateToBudget(brief.shorten(record), budget);
};

/** Divides a budget: no share exceeds its demand, and unused parts go to the larger demands. */
export const fairShares = (demands: readonly number[], budget: number): number[] => {
  const shares = demands.map(() => 0);
  let left = budget;
  const modestFirst = [...demands.entries()].toSorted(([, a], [, b]) => a - b);
  for (const [served, [index, demand]] of modestFirst.entries()) {
    const share = Math.min(demand, Math.floor(left / (demands.length - served)));
    shares[index] = share;
    left -= share;
  }
  return shares;
};

/** A value, and what an answer shows of it. */
export type Shortened = { whole: object; shown: object };

/** Sanitizes and takes records while they fit; the first one always does, shortened if need be. */
export const createBasket = (budget: number) => {
  const items: Fields[] = [];
  const sources: Fields[] = [];
  let left = budget;
  let shortened: Shortened | undefined;
  return {
    items,
    /** The records as they were before they were sanitized. */
    sources,
    add(item: Fields): boolean {
      const whole = sanitizeWithin(item, left - 1);
      if (whole !== undefined) {
        left -= cost(whole) + 1;
        items.push(whole);
        sources.push(item);
        return true;
      }
      if (items.length > 0) return false;
      const shown = fitLists(item, left);
      items.push(shown);
      sources.push(item);
      left = 0;
      shortened = { whole: item, shown };
      return true;
    },
    get left() {
      return left;
    },
    /** The only record, if it did not fit whole. */
    get shortened() {
      return shortened;
    },
  };
};
