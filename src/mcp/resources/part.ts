import { createBasket, type Fields, sanitizeWithin } from "../results/budget.ts";

/** What the frame around a part costs at most. */
export const MARGIN_TOKENS = 60;

/** Records that belong to another one, as many as fit. */
export type Part = { items: Fields[]; total: number | null; truncated: boolean };

export const truncatePart = (part: Part, share: number): Part => {
  const whole = sanitizeWithin(part, share);
  if (whole !== undefined) return whole;
  const basket = createBasket(share - MARGIN_TOKENS);
  for (const item of part.items) if (!basket.add(item)) break;
  return { items: basket.items, total: part.total, truncated: true };
};
