import type { InsightResult } from "../../insights/insight.ts";
import type { Answer } from "./answer.ts";
import { cost, createBasket, type Fields, truncateToBudget } from "./budget.ts";

/** The largest cost of the frame around the data. */
const FRAME_TOKENS = 90;
/** The largest cost of the sentence about items that did not fit. */
const NOTE_TOKENS = 40;
/** The largest share of the budget for everything but the items. */
const HEAD_SHARE = 0.5;

const cutNote = (shown: number, total: number): string =>
  `The first ${shown} of ${total} items fit; narrow the filters, or ask for a higher limit.`;

/** Sanitizes an insight's answer and keeps it within a budget: totals and notes first, then as many items as fit. */
export const insightAnswer = (result: InsightResult, tokens: number): Answer => {
  const { asOf, filter, rowCount, truncated, itemsTotal, currencyTotals, notes, items, ...rest } =
    result;
  const budget = tokens - FRAME_TOKENS - NOTE_TOKENS;
  const figures = { asOf, filter, rowCount, truncated, itemsTotal, currencyTotals, ...rest };
  const head = truncateToBudget({ ...figures, notes }, Math.floor(budget * HEAD_SHARE));
  const basket = createBasket(budget - cost(head.record));
  for (const item of items) if (!basket.add(item)) break;
  const isCut = basket.items.length < items.length;
  const shownNotes = (head.record["notes"] ?? []) as string[];
  const structured: Fields = {
    ...head.record,
    notes: isCut ? [...shownNotes, cutNote(basket.items.length, itemsTotal)] : shownNotes,
    items: basket.items,
  };
  return { structured, notes: [], etag: null };
};
