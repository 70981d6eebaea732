import type { InsightResult } from "../../insights/insight.ts";
import type { Answer } from "./answer.ts";
import { describeCuts, findCuts } from "./cuts.ts";
import { findRemoved, type Removed } from "./removed.ts";
import { cost, createBasket, type Fields, sanitizeWithin, truncateToBudget } from "./budget.ts";

/** The largest cost of `about` and of the frame around the data. */
const FRAME_TOKENS = 120;
/** The largest cost of a sentence about what did not fit. */
const NOTE_TOKENS = 40;
/** The largest share of the budget for everything but lists of records. */
const HEAD_SHARE = 0.5;
/** The largest share for the conditions, which can name a thousand records. */
const FILTER_SHARE = 0.15;
/** The largest share of the rest for lists beside the items. */
const LIST_SHARE = 0.7;

/** The largest cost of the sentence about what the records lack. */
const CUTS_TOKENS = 120;

const cutNote = (shown: number, total: number, isRaisable: boolean): string =>
  `The first ${shown} of ${total} items fit; narrow the filters${isRaisable ? ", or ask for a higher limit" : ""}.`;

const describeCut = (name: string, shown: unknown, all: readonly unknown[]): string[] => {
  const count = Array.isArray(shown) ? shown.length : 0;
  return count < all.length ? [`${name} has the first ${count} of ${all.length}.`] : [];
};

type Rest = { figures: Fields; lists: [name: string, records: readonly Fields[]][] };

/** Divides the figures of an insight from its lists of records. */
const divide = (rest: Fields): Rest => {
  const entries = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    figures: Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value))),
    lists: entries.flatMap(([name, value]): Rest["lists"] =>
      Array.isArray(value) ? [[name, value as Fields[]]] : [],
    ),
  };
};

type Taken = { shown: Fields[]; lacks: string[]; removed: Removed[] };

/** Takes as many records as fit, and says what the first one lacks if it is too large alone. */
const take = (name: string, records: readonly Fields[], budget: number): Taken => {
  const basket = createBasket(budget);
  for (const record of records) if (!basket.add(record)) break;
  const { items, sources, shortened } = basket;
  return {
    shown: items,
    removed: findRemoved(sources, items, name),
    lacks: shortened === undefined ? [] : findCuts(shortened, `${name}[0]`),
  };
};

/** Takes as many items as fit; where something was left out, beside a sentence about it. */
const takeItems = (items: readonly Fields[], budget: number, isCut: boolean): Taken => {
  const whole = isCut ? undefined : take("items", items, budget);
  return whole?.lacks.length === 0 ? whole : take("items", items, budget - CUTS_TOKENS);
};

/** Takes the only item in the first of its forms that fits; in the last form, shortened, if none does. */
const takeShortened = (forms: Iterable<Fields>, budget: number, isCut: boolean): Taken => {
  let last: Fields = {};
  for (const form of forms) {
    const shown = sanitizeWithin(form, budget - 1);
    if (shown !== undefined) {
      return { shown: [shown], lacks: [], removed: findRemoved([form], [shown], "items") };
    }
    last = form;
  }
  return takeItems([last], budget, isCut);
};

const REST = "the tools that read these records show the rest";

/** The budget of an insight's answer. */
export type Budget = {
  tokens: number;
  /** A higher limit has a larger budget. */
  isRaisable?: boolean;
  /** Gives the only item in ever shorter forms. */
  shorten?: ((item: Fields) => Iterable<Fields>) | undefined;
};

/** Sanitizes an insight's answer and keeps it within a budget: totals and notes first, then as many items as fit. */
export const insightAnswer = (
  result: InsightResult,
  { tokens, isRaisable = false, shorten }: Budget,
): Answer => {
  const { asOf, filter, rowCount, truncated, itemsTotal, currencyTotals, notes, items, ...rest } =
    result;
  const { figures, lists } = divide(rest);
  const budget = tokens - FRAME_TOKENS - NOTE_TOKENS * (lists.length + 2);
  const conditions = { asOf, filter, rowCount, truncated, itemsTotal };
  const { record: first } = truncateToBudget(conditions, Math.floor(budget * FILTER_SHARE));
  const most = Math.floor(budget * HEAD_SHARE) - cost(first);
  const { record: head } = truncateToBudget({ currencyTotals, ...figures, notes }, most);
  const { currencyTotals: shownTotals, ...shownFigures } = head;
  const removed = findRemoved(figures, shownFigures);
  const cuts = describeCut("currencyTotals", shownTotals, currencyTotals);
  const lacks = findCuts({ whole: { ...figures, notes }, shown: shownFigures }, "answer");
  const shownLists: Fields = {};
  let left = budget - cost(first) - cost(head);
  for (const [name, records] of lists) {
    const taken = take(name, records, Math.floor(left * LIST_SHARE));
    shownLists[name] = taken.shown;
    left -= cost(taken.shown);
    cuts.push(...describeCut(name, taken.shown, records));
    lacks.push(...taken.lacks);
    removed.push(...taken.removed);
  }
  const [only, ...others] = items;
  const taken =
    shorten !== undefined && only !== undefined && others.length === 0
      ? takeShortened(shorten(only), left, lacks.length > 0)
      : takeItems(items, left, lacks.length > 0);
  const { length } = taken.shown;
  if (length < items.length) cuts.push(cutNote(length, itemsTotal, isRaisable));
  cuts.push(...describeCuts([...lacks, ...taken.lacks], REST, CUTS_TOKENS));
  const { notes: shownNotes = [], ...shownRest } = head;
  const structured: Fields = {
    ...first,
    ...shownRest,
    notes: [...(shownNotes as string[]), ...cuts],
    ...shownLists,
    items: taken.shown,
  };
  return { structured, notes: [], etag: null, removed: [...removed, ...taken.removed] };
};
