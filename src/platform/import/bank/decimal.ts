import Big from "big.js";
import { findCurrencyDecimals } from "../../money.ts";

export { Big };

const DECIMAL = /^[+-]?(?:\d{1,40}(?:\.\d{0,20})?|\.\d{1,20})$/;

const parse = (text: string): Big | undefined => {
  const plain = text.trim();
  if (!DECIMAL.test(plain)) return undefined;
  return new Big(plain.replace(/^\+/, "").replace(/\.$/, ""));
};

/** The text that was parsed last: an entry and its only transaction have one amount. */
let last: { text: string; value: Big | undefined } = { text: "", value: undefined };

/** Parses a decimal with a point exactly; undefined for other text. */
export const parseDecimal = (text: string): Big | undefined => {
  if (text !== last.text) last = { text, value: parse(text) };
  return last.value;
};

/** Formats an amount as decimal text with at least the decimals of its currency. */
export const formatDecimal = (value: Big, currency: string): string =>
  value.toFixed(Math.max(value.c.length - value.e - 1, findCurrencyDecimals(currency)));

export const sumOf = (values: readonly Big[]): Big =>
  values.length === 1 && values[0] !== undefined
    ? values[0]
    : values.reduce((sum, value) => sum.plus(value), new Big(0));
