import Big from "big.js";
import { type CurrencyTotal, toExactNumber } from "../contract/insights/result.ts";
import { createSums, formatTotal } from "./decimal.ts";
import { forEachInTurns } from "../kit/in-turns.ts";

type Money = { currencyCode: string | null; amount: number };

/** Adds up amounts exactly, each currency by itself; the currency with most records comes first. */
const createTotals = () => {
  const totals = new Map<string | null, { count: number; sum: Big }>();
  return {
    add({ currencyCode, amount }: Money): void {
      const { count, sum } = totals.get(currencyCode) ?? { count: 0, sum: new Big(0) };
      totals.set(currencyCode, { count: count + 1, sum: sum.plus(amount) });
    },
    list: (): CurrencyTotal[] =>
      [...totals]
        .toSorted(([, a], [, b]) => b.count - a.count)
        .map(([currencyCode, { count, sum }]) => ({
          currencyCode,
          count,
          amount: toExactNumber(sum.toFixed()),
        })),
  };
};

/** Adds up a few amounts exactly, each currency by itself; the currency with most records comes first. */
export const sumByCurrency = (records: Iterable<Money>): CurrencyTotal[] => {
  const totals = createTotals();
  for (const record of records) totals.add(record);
  return totals.list();
};

/** Adds up amounts as {@link sumByCurrency} does, and gives the event loop a turn now and then. */
export const sumManyByCurrency = async (records: Iterable<Money>): Promise<CurrencyTotal[]> => {
  const totals = createTotals();
  await forEachInTurns(records, (record) => totals.add(record));
  return totals.list();
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
