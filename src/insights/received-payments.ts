import Big from "big.js";
import { type CurrencyTotal, toExactNumber } from "../contract/insights/result.ts";
import { filterInTurns, forEachInTurns, mapInTurns } from "../kit/in-turns.ts";
import { sumManyByCurrency } from "./currency-totals.ts";
import { addToList, selectItemsOf } from "./groups.ts";
import type { Row } from "./payment-measures.ts";
import { isReversal } from "./standing-payments.ts";

/** Whether a row is the return of a payment, or of a payment that says itself that it came back. */
export const isReturn = (row: Row): boolean => {
  const { paymentAmount } = row;
  return isReversal(row) || (typeof paymentAmount === "number" && paymentAmount < 0);
};

const amountOf = ({ paymentAmount }: Row): number =>
  typeof paymentAmount === "number" ? paymentAmount : 0;

/** Returns the date of a payment, which compares as text; empty for a payment without one. */
export const dateOf = (row: Row | undefined): string => {
  const paymentDate = row?.["paymentDate"];
  return typeof paymentDate === "string" ? paymentDate : "";
};

const keyOf = ({ currencyCode }: Row, amount: number): string =>
  JSON.stringify([currencyCode, amount]);

const compareDates = (a: Row, b: Row): number => {
  if (dateOf(a) === dateOf(b)) return 0;
  return dateOf(a) < dateOf(b) ? -1 : 1;
};

/** The latest payments among which the last one is that did not come back. */
const MOST_LATEST = 500;

/**
 * Finds the last payment that did not come back: a return undoes the latest payment of its amount and currency before
 * it. Takes one row of each payment.
 */
export const findLastReceived = async (payments: readonly Row[]): Promise<Row | undefined> => {
  const received = new Map<string, Row[]>();
  const undone = new Set<Row>();
  const page = { limit: MOST_LATEST };
  const latest = await selectItemsOf(payments, page, (a, b) => compareDates(b, a));
  for (const row of latest.toReversed()) {
    const amount = amountOf(row);
    if (!isReturn(row)) {
      addToList(received, keyOf(row, amount), row);
    } else if (amount < 0) {
      const last = received.get(keyOf(row, -amount))?.pop();
      if (last !== undefined) undone.add(last);
    }
  }
  return latest.find((row) => dateOf(row) !== "" && !isReturn(row) && !undone.has(row));
};

const toMoney = (row: Row) => ({
  currencyCode: typeof row["currencyCode"] === "string" ? row["currencyCode"] : null,
  amount: amountOf(row),
});

/** Takes what came back off what was received; a currency in which only returns came has a negative amount. */
const subtract = (
  received: readonly CurrencyTotal[],
  returned: readonly CurrencyTotal[],
): CurrencyTotal[] => {
  const known = new Set(received.map(({ currencyCode }) => currencyCode));
  const others = returned
    .filter(({ currencyCode }) => !known.has(currencyCode))
    .map((one) => ({ ...one, count: 0, amount: 0 }));
  return [...received, ...others].map((one) => {
    const own = returned.find(({ currencyCode }) => currencyCode === one.currencyCode);
    const amount = new Big(one.amount).plus(own?.amount ?? 0);
    return { ...one, amount: toExactNumber(amount.toFixed()) };
  });
};

/** Adds up payments of which there is one row each and currency: what was received less what came back. */
export const sumReceived = async (
  rows: readonly Row[],
): Promise<{ totals: CurrencyTotal[]; returned: CurrencyTotal[] }> => {
  const received = await filterInTurns(rows, (row) => !isReturn(row));
  // A payment that is itself marked as reversed was neither received nor taken off another one.
  const back = await filterInTurns(rows, (row) => isReturn(row) && amountOf(row) < 0);
  const [sums, returned] = [
    await sumManyByCurrency(await mapInTurns(received, toMoney)),
    await sumManyByCurrency(await mapInTurns(back, toMoney)),
  ];
  return { totals: subtract(sums, returned), returned };
};

/** Counts the different payments of rows that were received. */
export const countReceived = async (
  rows: readonly Row[],
  paymentOf: (row: Row, place: number) => unknown,
): Promise<number> => {
  const payments = new Set<unknown>();
  await forEachInTurns(rows.entries(), ([place, row]) => {
    if (!isReturn(row)) payments.add(paymentOf(row, place));
  });
  return payments.size;
};
