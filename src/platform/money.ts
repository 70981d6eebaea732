import Big from "big.js";
import { code as currencyByCode } from "currency-codes";

// A double and the decimal of at most 15 digits it was read from name each other, so this is exact.
const decimal = (value: number): Big => new Big(value);

/** The amount as it is kept: plain decimal text. */
export const amountText = (value: number): string => decimal(value).toFixed();

const UNKNOWN_CURRENCY_DECIMALS = 2;

/** Decimals of a currency by ISO 4217: JPY 0, KWD 3, most others 2. */
export const currencyDecimals = (currency: string): number =>
  currencyByCode(currency)?.digits ?? UNKNOWN_CURRENCY_DECIMALS;

export const decimalsOf = (value: number): number => {
  const { c, e } = decimal(value);
  return Math.max(0, c.length - e - 1);
};
