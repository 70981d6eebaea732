import Big from "big.js";
import { data as currencies } from "currency-codes";

// Exact, because a double round-trips decimals of at most 15 digits.
const decimal = (value: number): Big => new Big(value);

/** Formats an amount as plain decimal text, as in the store. */
export const formatAmount = (value: number): string => {
  const text = String(value);
  // Only very large and very small numbers have an exponent.
  return text.includes("e") || !Number.isFinite(value) ? decimal(value).toFixed() : text;
};

const UNKNOWN_CURRENCY_DECIMALS = 2;

// The package looks through its whole list for each code.
const DECIMALS: ReadonlyMap<string, number> = new Map(
  currencies.map(({ code, digits }) => [code, digits]),
);

/** Returns the number of decimals of a currency (ISO 4217): JPY 0, KWD 3, most others 2. */
export const findCurrencyDecimals = (currency: string): number =>
  DECIMALS.get(currency.toUpperCase()) ?? UNKNOWN_CURRENCY_DECIMALS;

export const countDecimals = (value: number): number => {
  const { c, e } = decimal(value);
  return Math.max(0, c.length - e - 1);
};
