import Big from "big.js";
import { type CurrencyTotal, toExactNumber } from "../contract/insights/result.ts";
import { createSums, formatTotal } from "./decimal.ts";
import { forEachInTurns } from "../kit/in-turns.ts";

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

/** Adds up the amounts of many records, and gives the event loop a turn now and then; the largest sum comes first. */
export const sumInTurns = async (
  records: Iterable<Money & { currencyCode: string }>,
): Promise<CurrencyTotal[]> => {
  const [groups, counts, sums] = [new Map<string, number>(), [] as number[], createSums()];
  await forEachInTurns(records, ({ currencyCode, amount }) => {
    const group = groups.get(currencyCode) ?? groups.size;
    groups.set(currencyCode, group);
    counts[group] = (counts[group] ?? 0) + 1;
    sums.add(group, amount);
  });
  return [...groups]
    .toSorted(([, a], [, b]) => sums.compare(b, a))
    .map(([currencyCode, group]) => ({
      currencyCode,
      count: counts[group] ?? 0,
      amount: formatTotal(sums.total(group)),
    }));
};
