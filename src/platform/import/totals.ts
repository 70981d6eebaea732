import { abbreviate } from "../../contract/payments/value.ts";
import type { Cells } from "./cells.ts";
import { parseDay } from "./dates.ts";
import type { Fields } from "./fields.ts";

/** First words of lines of totals and balances, without accents, in the languages that exports use. */
const WORDS: ReadonlySet<string> = new Set(
  (
    "total totals subtotal sum summe gesamt gesamtsumme gesamtbetrag zwischensumme endsumme saldo " +
    "endsaldo anfangssaldo schlusssaldo ubertrag somme solde totale subtotale suma sumas totaal " +
    "eindtotaal subtotaal totaux balance"
  ).split(" "),
);
const PHRASES: ReadonlySet<string> = new Set(
  (
    "grand total,sub total,sous total,report total,net total,carried forward,brought forward," +
    "opening balance,closing balance,ending balance,total general,saldo final,saldo inicial"
  ).split(","),
);

const MOST_WORDS = 6;
const LONGEST = 60;
const ACCENTS = /\p{M}/gu;
const SEPARATORS = /[^a-z]+/;

/** Returns whether a cell names a total or balance: with one of the words at its beginning, and few others. */
export const isTotalWord = (value: unknown): value is string => {
  if (typeof value !== "string" || value.length > LONGEST) return false;
  const plain = value.normalize("NFD").replaceAll(ACCENTS, "").toLowerCase();
  const words = plain.split(SEPARATORS).filter((word) => word !== "");
  const [first = "", second = ""] = words;
  if (words.length > MOST_WORDS) return false;
  return WORDS.has(first) || PHRASES.has(`${first} ${second}`);
};

export type TotalLine = { type: string; reason: string; amount?: string };

const TOLERANCE = 1e-9;

const isNearly = (one: number, other: number): boolean =>
  Math.abs(one - other) <= TOLERANCE * Math.max(1, Math.abs(one));

/** The fields of a target that tell a line of totals from a record. */
const describeRecord = (fields: Fields) => {
  const named = [...fields];
  const groups = new Map<string, string[]>();
  for (const [name, { required }] of named) {
    if (required === undefined) continue;
    groups.set(required, [...(groups.get(required) ?? []), name]);
  }
  return {
    key: named.find(([, { role }]) => role === "key")?.[0],
    days: named.flatMap(([name, { role }]) => (role === "day" ? [name] : [])),
    amounts: named.flatMap(([name, { currency }]) => (currency === undefined ? [] : [name])),
    needs: [...groups.values()],
  };
};

/**
 * Creates the recognition of lines of totals in a table: lines without a record's number and day, with a word such as
 * "Total" or with the sums of the rows above.
 */
export const createTotals = (fields: Fields) => {
  const { key, days, amounts, needs } = describeRecord(fields);
  const before = new Map<string, { all: number; sinceTotal: number }>();
  const isDay = (value: unknown): boolean =>
    typeof value === "string" && parseDay(value) !== undefined;
  const isIncomplete = (record: Cells): boolean =>
    needs.some((names) => names.every((name) => record[name] === undefined));

  const isSumOfRows = (record: Cells): boolean => {
    const given = amounts.filter((name) => typeof record[name] === "number");
    return (
      given.length > 0 &&
      given.every((name) => {
        const { all, sinceTotal } = before.get(name) ?? { all: NaN, sinceTotal: NaN };
        const value = Number(record[name]);
        return isNearly(all, value) || isNearly(sinceTotal, value);
      })
    );
  };
  const findAmount = (record: Cells): Pick<TotalLine, "amount"> => {
    const value = amounts.map((name) => record[name]).find((one) => typeof one === "number");
    return value === undefined ? {} : { amount: JSON.stringify(value) };
  };
  return {
    /** Adds the amounts of a row that is a record. */
    add(record: Cells): void {
      for (const name of amounts) {
        const value = record[name];
        if (typeof value !== "number") continue;
        const sums = before.get(name);
        if (sums === undefined) before.set(name, { all: value, sinceTotal: value });
        else {
          sums.all += value;
          sums.sinceTotal += value;
        }
      }
    },
    /** Returns what the line is if it is none of a record. */
    find(cells: Cells, record: Cells): TotalLine | undefined {
      if (key === undefined) return undefined;
      const number = record[key];
      if (number !== undefined && !isTotalWord(number)) return undefined;
      if (!isIncomplete(record) || days.some((name) => isDay(record[name]))) return undefined;
      const word = Object.values(cells).find(isTotalWord);
      if (word === undefined && !isSumOfRows(record)) return undefined;
      for (const sums of before.values()) sums.sinceTotal = 0;
      const reason =
        word === undefined
          ? "has no number and day, and the sums of the rows above"
          : `is a line of totals: ${abbreviate(word.trim())}`;
      return { type: "total", reason, ...findAmount(record) };
    },
  };
};
