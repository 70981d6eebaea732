import Big from "big.js";
import { findCurrencyDecimals } from "../../money.ts";

export { Big };

const DECIMAL = /^[+-]?(?:\d{1,40}(?:\.\d{0,20})?|\.\d{1,20})$/;

/** Parses a decimal with a point exactly; undefined for other text. */
export const parseDecimal = (text: string): Big | undefined => {
  const plain = text.trim();
  if (!DECIMAL.test(plain)) return undefined;
  return new Big(plain.replace(/^\+/, "").replace(/\.$/, ""));
};

/** Formats an amount as decimal text with at least the decimals of its currency. */
export const formatDecimal = (value: Big, currency: string): string =>
  value.toFixed(Math.max(value.c.length - value.e - 1, findCurrencyDecimals(currency)));

export const sumOf = (values: readonly Big[]): Big =>
  values.reduce((sum, value) => sum.plus(value), new Big(0));
