import { codes as currencyCodes } from "currency-codes";
import type { Fault } from "../../contract/errors.ts";
import { countDecimals, findCurrencyDecimals } from "../money.ts";

const CURRENCIES: ReadonlySet<string> = new Set(currencyCodes());

/** Returns whether text is a code of ISO 4217. */
export const isCurrency = (text: string): boolean => CURRENCIES.has(text);

const SCALES = [1, 10, 100, 1000, 10_000];
const MAX_SCALED = 1e15;

// Arithmetic answers most cases; counting decimals is exact but many times slower.
const hasMoreDecimals = (value: number, decimals: number): boolean => {
  const scale = SCALES[decimals] ?? 1;
  const scaled = Math.round(value * scale);
  if (Math.abs(scaled) < MAX_SCALED && scaled / scale === value) return false;
  return countDecimals(value) > decimals;
};

/** Checks that an amount has at most the decimals of its currency (ISO 4217). Other values have no faults. */
export const checkDecimals = (field: string, value: unknown, currency: string): Fault[] => {
  if (typeof value !== "number" || !Number.isFinite(value)) return [];
  const decimals = findCurrencyDecimals(currency);
  if (!hasMoreDecimals(value, decimals)) return [];
  const most = decimals === 0 ? "no decimals" : `at most ${decimals} decimals`;
  return [
    { field, code: "format", message: `must have ${most}, as ${currency} has, not ${value}` },
  ];
};
