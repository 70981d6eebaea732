import type { Insight, InsightResult } from "../../insights/insight.ts";
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

/** The largest cost of a cursor and of the number of items beside it. */
const CURSOR_TOKENS = 130;

type Shown = { skip: number; length: number; total: number; cursor: string | undefined };

/** Says which items fit and how to get the others. */
const cutNote = ({ skip, length, total, cursor }: Shown, isRaisable: boolean): string => {
  const which = skip === 0 ? `The first ${length}` : `Items ${skip + 1} to ${skip + length}`;
  const ways = [
    ...(cursor === undefined ? [] : ["send nextCursor as cursor for more"]),
    "narrow the filters",
    ...(isRaisable ? ["ask for a higher limit"] : []),
  ];
  return `${which} of ${total} items fit; ${ways.join(", or ")}.`;
};

/** Returns how many items are here and the cursor of the others, if an answer does not have all of them. */
const toPage = ({ length, total, cursor }: Shown): Fields =>
  length === total
    ? {}
    : { itemsShown: length, ...(cursor === undefined ? {} : { nextCursor: cursor }) };

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

/** The place of an answer among those that show one list of items, and the cursor of the next. */
export type Continuation = {
  /** The number of items that earlier answers had. */
  skip: number;
  /** Returns the cursor of the answer that begins after so many items; undefined if there is none. */
  sealCursor(skip: number): string | undefined;
};

const FIRST_PAGE: Continuation = { skip: 0, sealCursor: () => undefined };

/** The budget of an insight's answer. */
export type Budget = {
  tokens: number;
  /** A higher limit has a larger budget. */
  isRaisable?: boolean;
  /** Gives the only item in ever shorter forms. */
  shorten?: ((item: Fields) => Iterable<Fields>) | undefined;
  /** Gives all items in ever shorter forms. */
  shortenItems?: Insight["shortenItems"] | undefined;
};

type Lists = { shown: Fields; left: number; cuts: string[]; lacks: string[]; removed: Removed[] };

/** Takes from each list of records as much as its share of the budget has room for. */
const takeLists = (lists: Rest["lists"], budget: number): Lists => {
  const taken: Lists = { shown: {}, left: budget, cuts: [], lacks: [], removed: [] };
  for (const [name, records] of lists) {
    const { shown, lacks, removed } = take(name, records, Math.floor(taken.left * LIST_SHARE));
    taken.shown[name] = shown;
    taken.left -= cost(shown);
    taken.cuts.push(...describeCut(name, shown, records));
    taken.lacks.push(...lacks);
    taken.removed.push(...removed);
  }
  return taken;
};

/** Takes as many items as fit beside a cursor, or all of them where none is needed. */
const takePage = (
  { items, itemsTotal }: Pick<InsightResult, "items" | "itemsTotal">,
  { budget, skip, isCut }: { budget: number; skip: number; isCut: boolean },
): Taken => {
  const beside = takeItems(items, budget - CURSOR_TOKENS, isCut);
  if (skip + items.length < itemsTotal) return beside;
  const all = takeItems(items, budget, isCut);
  return all.shown.length === items.length ? all : beside;
};

type Page = Parameters<typeof takePage>[1];

/** Takes the items in the first of their forms in which all fit; in the last one, as many as fit. */
const takeForms = (
  { items, itemsTotal }: Pick<InsightResult, "items" | "itemsTotal">,
  { shorten, shortenItems }: Pick<Budget, "shorten" | "shortenItems">,
  page: Page,
): Taken & { note?: string | undefined } => {
  const [only, ...others] = items;
  if (shorten !== undefined && only !== undefined && others.length === 0) {
    return takeShortened(shorten(only), page.budget, page.isCut);
  }
  let taken: Taken & { note?: string | undefined } = takePage({ items, itemsTotal }, page);
  for (const form of shortenItems?.(items) ?? []) {
    if (taken.shown.length === items.length) break;
    taken = { ...takePage({ items: form.items, itemsTotal }, page), note: form.note };
  }
  return taken;
};

/** Sanitizes an insight's answer and keeps it within a budget: totals and notes first, then as many items as fit. */
export const insightAnswer = (
  result: InsightResult,
  { tokens, isRaisable = false, ...forms }: Budget,
  { skip, sealCursor }: Continuation = FIRST_PAGE,
): Answer => {
  const { asOf, filter, rowCount, truncated, itemsTotal, currencyTotals, notes, items, ...rest } =
    result;
  const { figures, lists } = divide(rest);
  const budget = tokens - FRAME_TOKENS - NOTE_TOKENS * (lists.length + 2);
  const conditions = { asOf, filter, rowCount, truncated, itemsTotal };
  const { record: first } = truncateToBudget(conditions, Math.floor(budget * FILTER_SHARE));
  const most = Math.floor(budget * HEAD_SHARE) - cost(first);
  const { record: head } = truncateToBudget({ currencyTotals, ...figures, notes }, most);
  const { currencyTotals: shownTotals, ...shownRest } = head;
  const { notes: shownNotes = [], ...shownFigures } = shownRest;
  const beside = takeLists(lists, budget - cost(first) - cost(head));
  const lacks = [
    ...findCuts({ whole: { ...figures, notes }, shown: shownRest }, "answer"),
    ...beside.lacks,
  ];
  const isCut = lacks.length > 0;
  const taken = takeForms(result, forms, { budget: beside.left, skip, isCut });
  const { length } = taken.shown;
  const next = skip + length;
  const cursor = next < itemsTotal ? sealCursor(next) : undefined;
  const shown: Shown = { skip, length, total: itemsTotal, cursor };
  const structured: Fields = {
    ...first,
    ...toPage(shown),
    ...(shownTotals === undefined ? {} : { currencyTotals: shownTotals }),
    ...shownFigures,
    ...beside.shown,
    notes: [
      ...(shownNotes as string[]),
      ...describeCut("currencyTotals", shownTotals, currencyTotals),
      ...beside.cuts,
      ...(length < items.length ? [cutNote(shown, isRaisable)] : []),
      ...(taken.note === undefined ? [] : [taken.note]),
      ...describeCuts([...lacks, ...taken.lacks], REST, CUTS_TOKENS),
    ],
    items: taken.shown,
  };
  const removed = [...findRemoved(figures, shownFigures), ...beside.removed, ...taken.removed];
  return { structured, notes: [], etag: null, removed };
};
