import { estimateTokens, isWithin } from "./tokens.ts";

const textOf = (value: unknown): string => JSON.stringify(value) ?? "";

export const cost = (value: unknown): number => estimateTokens(textOf(value));

const cutText = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length <= most
    ? text
    : `${characters.slice(0, most).join("")}… [${characters.length - most} more characters]`;
};

const shortened = (value: unknown, text: number, items: number): unknown => {
  if (typeof value === "string") return cutText(value, text);
  if (Array.isArray(value)) return value.slice(0, items).map((one) => shortened(one, text, items));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, shortened(child, text, items)]),
  );
};

// From gentle to harsh; the last ones give up the record's lists too.
const STEPS: readonly (readonly [text: number, items: number])[] = [
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

/** A record within its budget: as it is, or with long texts cut where they say so themselves. */
export const truncateToBudget = (record: Fields, budget: number): Fitted => {
  if (isWithin(textOf(record), budget)) return { record, cut: false };
  for (const [text, items] of STEPS) {
    const shorter = shortened(record, text, items) as Fields;
    if (isWithin(textOf(shorter), budget)) {
      return { record: shorter, cut: true, ...(items === Infinity ? {} : { most: items }) };
    }
  }
  const first = Object.entries(record).slice(0, 1);
  return { record: shortened(Object.fromEntries(first), 60, 0) as Fields, cut: true };
};

/** Shares a budget out: nobody gets more than is wanted, and what some leave goes to those who want more. */
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

/** Takes records while they fit; the first one always does, shortened if need be. */
export const createBasket = (budget: number) => {
  const items: Fields[] = [];
  let left = budget;
  let cut = false;
  return {
    items,
    add(item: Fields): boolean {
      const price = cost(item) + 1;
      if (price <= left) {
        left -= price;
        items.push(item);
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
