import type { InsightResult } from "../../insights/insight.ts";
import type { Answer } from "./answer.ts";
import { cost, createBasket, type Fields, truncateToBudget } from "./budget.ts";

/** The largest cost of the frame around the data. */
const FRAME_TOKENS = 90;
/** The largest cost of a sentence about what did not fit. */
const NOTE_TOKENS = 40;
/** The largest share of the budget for everything but lists of records. */
const HEAD_SHARE = 0.5;
/** The largest share for the conditions, which can name a thousand records. */
const FILTER_SHARE = 0.15;
/** The largest share of the rest for lists beside the items. */
const LIST_SHARE = 0.7;

const cutNote = (shown: number, total: number): string =>
  `The first ${shown} of ${total} items fit; narrow the filters, or ask for a higher limit.`;

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

/** Takes as many records as fit. */
const take = (records: readonly Fields[], budget: number): Fields[] => {
  const basket = createBasket(budget);
  for (const record of records) if (!basket.add(record)) break;
  return basket.items;
};

/** Sanitizes an insight's answer and keeps it within a budget: totals and notes first, then as many items as fit. */
export const insightAnswer = (result: InsightResult, tokens: number): Answer => {
  const { asOf, filter, rowCount, truncated, itemsTotal, currencyTotals, notes, items, ...rest } =
    result;
  const { figures, lists } = divide(rest);
  const budget = tokens - FRAME_TOKENS - NOTE_TOKENS * (lists.length + 2);
  const conditions = { asOf, filter, rowCount, truncated, itemsTotal };
  const { record: first } = truncateToBudget(conditions, Math.floor(budget * FILTER_SHARE));
  const most = Math.floor(budget * HEAD_SHARE) - cost(first);
  const { record: head } = truncateToBudget({ currencyTotals, ...figures, notes }, most);
  const { notes: shownNotes = [], ...shownFigures } = head;
  const cuts = describeCut("currencyTotals", head["currencyTotals"], currencyTotals);
  const shownLists: Fields = {};
  let left = budget - cost(first) - cost(head);
  for (const [name, records] of lists) {
    const shown = take(records, Math.floor(left * LIST_SHARE));
    shownLists[name] = shown;
    left -= cost(shown);
    cuts.push(...describeCut(name, shown, records));
  }
  const shownItems = take(items, left);
  if (shownItems.length < items.length) cuts.push(cutNote(shownItems.length, itemsTotal));
  const structured: Fields = {
    ...first,
    ...shownFigures,
    notes: [...(shownNotes as string[]), ...cuts],
    ...shownLists,
    items: shownItems,
  };
  return { structured, notes: [], etag: null };
};
