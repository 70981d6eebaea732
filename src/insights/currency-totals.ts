import Big from "big.js";
import { type CurrencyTotal, toExactNumber } from "../contract/insights/result.ts";

type Money = { currencyCode: string | null; amount: number };

/** Adds up amounts exactly, each currency by itself; the currency with most records comes first. */
export const sumByCurrency = (records: Iterable<Money>): CurrencyTotal[] => {
  const totals = new Map<string | null, { count: number; sum: Big }>();
  for (const { currencyCode, amount } of records) {
    const { count, sum } = totals.get(currencyCode) ?? { count: 0, sum: new Big(0) };
    totals.set(currencyCode, { count: count + 1, sum: sum.plus(amount) });
  }
  return [...totals]
    .toSorted(([, a], [, b]) => b.count - a.count)
    .map(([currencyCode, { count, sum }]) => ({
      currencyCode,
      count,
      amount: toExactNumber(sum.toFixed()),
    }));
};
