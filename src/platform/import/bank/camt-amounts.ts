import type { Transaction } from "./camt-transaction.ts";
import { Big, sumOf } from "./decimal.ts";

/** A transaction with what it adds to its account, and the charges that the bank kept of it. */
export type Share = { transaction: Transaction; value: Big; fee: Big };

type Choose = (amounts: Transaction["amounts"]) => Big | undefined;

// The elements that can have the booked amount: Amt (since version 3), AmtDtls/TxAmt, AmtDtls/InstdAmt, and
// AmtDtls/CntrValAmt of a transaction in another currency.
const CHOICES: readonly Choose[] = [
  ({ own, booked, instructed, countervalue }) => own ?? booked ?? instructed ?? countervalue,
  ({ own, booked, instructed, countervalue }) => booked ?? own ?? instructed ?? countervalue,
  ({ own, booked, instructed, countervalue }) => instructed ?? own ?? booked ?? countervalue,
  ({ own, booked, instructed, countervalue }) => countervalue ?? booked ?? own ?? instructed,
];

const ZERO = new Big(0);

const fill = (values: readonly (Big | undefined)[], rest: (sum: Big) => Big): Big[] | undefined => {
  const known = values.filter((value) => value !== undefined);
  const missing = values.length - known.length;
  if (missing === 0) return known;
  const left = rest(sumOf(known));
  if (missing > 1 || known.length === 0 || left.lte(0)) return undefined;
  return values.map((value) => value ?? left);
};

/**
 * Divides an entry among its transactions if their amounts add up to it, before or after charges; one missing amount
 * is the rest. Otherwise the amounts of the transactions are no bookings, and the result is undefined.
 */
export const divideEntry = (
  total: Big,
  isCredit: boolean,
  transactions: readonly Transaction[],
): Share[] | undefined => {
  for (const choose of CHOICES) {
    const signed = transactions.map((one) => {
      const value = choose(one.amounts);
      return one.isCredit === isCredit ? value : value?.neg();
    });
    for (const withCharges of [false, true]) {
      const net = signed.map((value, place) =>
        withCharges ? value?.minus(transactions[place]?.charges ?? ZERO) : value,
      );
      const canFill = transactions.every((one, place) => one.isCredit === isCredit || net[place]);
      const shares = canFill ? fill(net, (sum) => total.minus(sum)) : undefined;
      if (shares === undefined || !sumOf(shares).eq(total)) continue;
      return transactions.map((transaction, place) => {
        const value = shares[place] ?? ZERO;
        const fee = explainCharges(value.abs(), transaction, [transaction.charges]) ?? ZERO;
        return { transaction, value: isCredit ? value : value.neg(), fee };
      });
    }
  }
  return undefined;
};

/**
 * Returns the charges that explain the difference between an amount that was sent and the one that arrived: zero if
 * there is none, undefined if no charges explain it.
 */
export const explainCharges = (
  arrived: Big,
  { amounts }: Transaction,
  charges: readonly Big[],
): Big | undefined => {
  const values = CHOICES.map((choose) => choose(amounts)).filter((value) => value !== undefined);
  for (const charge of charges) {
    const isKept = charge.gt(0) && values.some((value) => value.minus(charge).eq(arrived));
    if (isKept) return charge;
  }
  return values.length === 0 || values.some((value) => value.eq(arrived)) ? ZERO : undefined;
};
