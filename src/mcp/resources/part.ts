import type { CallerContext } from "../caller.ts";
import { createBasket, type Fields, sanitizeWithin } from "../results/budget.ts";

/** Upper limit of the tokens for the JSON around a part. */
export const MARGIN_TOKENS = 60;

/** The budget of a resource with a list. */
export const budgetOf = ({ settings }: CallerContext): number =>
  settings.answerTokens - 2 * MARGIN_TOKENS;

/** Records that belong to another one. */
export type Part = { items: Fields[]; total: number | null; truncated: boolean };

/** Returns a part with as many of its records as fit into a number of tokens. */
export const truncatePart = (part: Part, tokens: number): Part => {
  const whole = sanitizeWithin(part, tokens);
  if (whole !== undefined) return whole;
  const basket = createBasket(tokens - MARGIN_TOKENS);
  for (const item of part.items) if (!basket.add(item)) break;
  return { items: basket.items, total: part.total, truncated: true };
};
