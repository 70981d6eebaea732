import Big from "big.js";
import { code as currencyByCode } from "currency-codes";

// Exact, because a double round-trips decimals of at most 15 digits.
const decimal = (value: number): Big => new Big(value);

/** Formats an amount as plain decimal text, as in the store. */
export const formatAmount = (value: number): string => decimal(value).toFixed();

const UNKNOWN_CURRENCY_DECIMALS = 2;

/** Returns the number of decimals of a currency (ISO 4217): JPY 0, KWD 3, most others 2. */
export const findCurrencyDecimals = (currency: string): number =>
  currencyByCode(currency)?.digits ?? UNKNOWN_CURRENCY_DECIMALS;

export const countDecimals = (value: number): number => {
  const { c, e } = decimal(value);
  return Math.max(0, c.length - e - 1);
};
