import { z } from "zod";

/** An exact amount: a number, or text if a number cannot hold its digits. */
export const Amount = z.union([z.number(), z.string()]);

export const CurrencyTotals = z.array(
  z.object({ currencyCode: z.string().nullable(), count: z.int(), amount: Amount }),
);

/** Formats an amount with its currency, such as `6,393.27 USD`. */
export const formatMoney = (
  amount: z.infer<typeof Amount>,
  currencyCode: string | null | undefined,
): string => {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `${Number(amount).toLocaleString("en-US", digits)} ${currencyCode ?? "without currency"}`;
};

/** Formats the totals of several currencies, which are never added up. */
export const formatTotals = (totals: z.infer<typeof CurrencyTotals>): string =>
  totals.map(({ amount, currencyCode }) => formatMoney(amount, currencyCode)).join(", ") || "none";

export const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
