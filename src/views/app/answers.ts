/** Reads parts of answers. A platform may leave out any of them, so that nothing is taken for granted. */
import type { Fields } from "./host.ts";
import { plainText } from "./format.ts";

export const recordOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.map(recordOf) : [];

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(plainText) : [];

export const numberOf = (value: unknown): number => {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
};

/** Returns the currencies of rows, the one with the highest count in a field first. */
export const currenciesOf = (rows: readonly Fields[], field: string): string[] => {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const code = plainText(row["currencyCode"]);
    counts.set(code, (counts.get(code) ?? 0) + numberOf(row[field]));
  }
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([code]) => code);
};

/** Returns why the platform does not give a part; undefined if it does. */
export const reasonOf = (part: unknown): string | undefined => {
  const { available, reason } = recordOf(part);
  return available === false ? plainText(reason) : undefined;
};

export type Total = { currencyCode: string; count: number; amount: number | string };

export const totalsOf = (value: unknown): Total[] =>
  listOf(value).map(({ currencyCode, count, amount }) => ({
    currencyCode: plainText(currencyCode),
    count: numberOf(count),
    amount: typeof amount === "string" ? amount : numberOf(amount),
  }));
