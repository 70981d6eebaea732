import { lastMonth } from "../../scripts/demo/calendar.ts";
import type { World } from "../world/index.ts";
import { CURRENCIES, type Currency, type Dispute, type Payment } from "../world/records.ts";
import type { Labelled } from "./questions.ts";

export const sum = <T>(rows: readonly T[], toCents: (row: T) => number | undefined): number =>
  rows.reduce((total, row) => total + (toCents(row) ?? 0), 0);

/** Adds up cents by a key, and returns keys and sums, the largest sum first. */
export const rank = <T>(
  rows: readonly T[],
  toKey: (row: T) => string,
  toNumber: (row: T) => number,
): [key: string, total: number][] => {
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(toKey(row), (totals.get(toKey(row)) ?? 0) + toNumber(row));
  return [...totals].toSorted(([, one], [, other]) => other - one);
};

/** Sums per currency that occurs. */
export const perCurrency = <T extends { currency: Currency }>(
  rows: readonly T[],
  toCents: (row: T) => number | undefined,
): Labelled[] =>
  CURRENCIES.flatMap((currency): Labelled[] => {
    const cents = sum(
      rows.filter((one) => one.currency === currency),
      toCents,
    );
    return cents === 0 ? [] : [[currency, { cents }]];
  });

/** One row of each payment. */
export const once = (rows: readonly Payment[]): Payment[] => [
  ...new Map(rows.map((row) => [row.payment, row])).values(),
];

/** Selects records of a world that several tasks are about. */
export const findTruths = ({ day, records }: World) => {
  const month = lastMonth(new Date(`${day}T00:00:00Z`));
  const isInMonth = (at = ""): boolean =>
    at.slice(0, 10) >= month.from && at.slice(0, 10) <= month.to;
  const open = records.disputes.filter((one) => one.status === "Open");
  const cash = records.payments.filter((one) => one.source === "cashapp");
  const openOf = (accounts: readonly { number: string }[]): Dispute[] =>
    open.filter((one) => accounts.some(({ number }) => number === one.account));
  return { month, isInMonth, open, cash, openOf };
};
