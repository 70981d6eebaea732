import Big from "big.js";
import { createOccurrences } from "./occurrences.ts";
import type { LeftOut } from "./bank/entry.ts";
import type { Doubt, Money, Settled } from "./target.ts";

export type Counts = {
  read: number;
  written: number;
  unchanged: number;
  /** Dropped by the map's `where`. */
  skipped: number;
  rejected: number;
  /** Records that are no payment of a customer, and lines of totals. */
  leftOut: number;
  /** Among the written ones: those that may repeat another payment. */
  doubtful: number;
};

export const NO_COUNTS: Counts = {
  read: 0,
  written: 0,
  unchanged: 0,
  skipped: 0,
  rejected: 0,
  leftOut: 0,
  doubtful: 0,
};

const SUMS = [
  "credits",
  "debits",
  "returned",
  "written",
  "unchanged",
  "doubtful",
  "leftOut",
] as const;
type Sum = (typeof SUMS)[number];

/** The sums of a file in one currency. `written`, `unchanged` and `leftOut` are net of debits. */
export type Totals = { currencyCode: string } & Record<Sum, number>;

/** The most entries of a list in a report. */
export const MOST_LISTED = 1000;

export type NamedLeftOut = { line: number } & LeftOut["leftOut"];

/** Adds up the amounts of a file; a payment counts once, however many rows it has. */
export const createTotals = () => {
  const byCurrency = new Map<string, Record<Sum, Big>>();
  const counted = createOccurrences();
  const listed: NamedLeftOut[] = [];
  /** By payment. */
  const doubts = new Map<string, Doubt>();
  const add = (currency: string, sum: Sum, amount: Big): void => {
    const sums = byCurrency.get(currency) ?? emptySums();
    sums[sum] = sums[sum].plus(amount);
    byCurrency.set(currency, sums);
  };
  const addMovement = (currency: string, amount: Big): void => {
    if (amount.lt(0)) add(currency, "debits", amount.neg());
    else add(currency, "credits", amount);
  };
  return {
    addPayment(
      { paymentId, currency, amount: text }: Money,
      outcome: "written" | "unchanged",
    ): void {
      if (paymentId !== undefined && counted.count(paymentId) > 1) return;
      const amount = new Big(text);
      addMovement(currency, amount);
      if (amount.lt(0)) add(currency, "returned", amount.neg());
      add(currency, outcome, amount);
    },
    addLeftOut({ line, leftOut }: LeftOut): void {
      if (listed.length < MOST_LISTED) listed.push({ line, ...leftOut });
      const { amount, currency, both } = leftOut;
      if (amount === undefined || currency === undefined) return;
      if (both === undefined) addMovement(currency, new Big(amount));
      else {
        add(currency, "credits", new Big(both.credits));
        add(currency, "debits", new Big(both.debits));
      }
      add(currency, "leftOut", new Big(amount));
    },
    addDoubt(doubt: Doubt): void {
      add(doubt.currencyCode, "doubtful", new Big(doubt.amount));
      if (doubts.size < MOST_LISTED) doubts.set(doubt.paymentId, doubt);
    },
    removeDoubt({ paymentId, currencyCode, amount }: Settled): void {
      add(currencyCode, "doubtful", new Big(-amount));
      doubts.delete(paymentId);
    },
    leftOut: (): readonly NamedLeftOut[] => listed,
    doubts: (): readonly Doubt[] => [...doubts.values()],
    totals: (): Totals[] =>
      [...byCurrency]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([currencyCode, sums]) => ({
          currencyCode,
          ...(Object.fromEntries(SUMS.map((name) => [name, sums[name].toNumber()])) as Record<
            Sum,
            number
          >),
        })),
    close: counted.close,
  };
};

export type RunningTotals = ReturnType<typeof createTotals>;

const emptySums = (): Record<Sum, Big> =>
  Object.fromEntries(SUMS.map((name) => [name, new Big(0)])) as Record<Sum, Big>;

/** The result of an import, or of one of its files. */
export type Report = Counts & {
  totals: Totals[];
  doubts: readonly Doubt[];
  entriesLeftOut: readonly NamedLeftOut[];
  /** The number of records changed so far by the import, files before this one included. */
  changes: number;
};
