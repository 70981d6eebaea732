import { findCurrencyDecimals } from "../../money.ts";
import { Big } from "./decimal.ts";
import { createMalformed } from "./file.ts";

/** Counts the fields that follow a funds type; undefined for an unknown type. */
export const countFundsFields = (kind: string, next: string): number | undefined => {
  if (kind === "S") return 3;
  if (kind === "V") return 2;
  if (kind === "D") return /^\d{1,6}$/.test(next) ? 1 + 2 * Number(next) : undefined;
  return ["", "Z", "0", "1", "2"].includes(kind) ? 0 : undefined;
};

const DIGITS = /^[+-]?\d{1,40}$/;

/** Parses the digits of an amount or a total; undefined for other text. */
export const parseDigits = (text: string): bigint | undefined =>
  DIGITS.test(text) ? BigInt(text.replace("+", "")) : undefined;

/** Converts digits, which have no decimal point, by the currency's number of decimals. */
export const toDecimal = (digits: bigint, currency: string): Big =>
  new Big(String(digits)).times(new Big(10).pow(-findCurrencyDecimals(currency)));

export type Transaction = {
  line: number;
  type: string;
  /** Absent for non-monetary information. */
  digits: string;
  bank: string;
  customer: string;
  /** The text, continuations separated by line feeds. */
  text: string;
  /** The text with commas between continuations, as version 0.1.0 derived ids from it. */
  joined: string;
};

/** Returns where the text after a number of fields begins; continuations end fields, too. */
const findText = (content: string, fields: number): number => {
  const separator = /[,\n]/g;
  for (let count = 0; count < fields; count += 1) {
    if (separator.exec(content) === null) return content.length;
  }
  return separator.lastIndex;
};

/**
 * Parses a 16 record with its continuations, which are separated by line feeds. BAI2 2005, 16 record: type code,
 * amount, funds type with its own fields, bank reference, customer reference, text that can contain commas.
 */
export const parseTransaction = (line: number, content: string): Transaction => {
  const fields = content.split(/[,\n]/);
  const [, type = "", digits = "", kind = "", next = ""] = fields.map((field) => field.trim());
  const skipped = countFundsFields(kind, next);
  if (!/^\d{3}$/.test(type) || skipped === undefined) {
    throw createMalformed(`line ${line}`, "is not a readable transaction");
  }
  const start = 4 + skipped;
  const [bank = "", customer = "", ...text] = fields.slice(start).map((field) => field.trim());
  const from = findText(content, start + 2);
  return { line, type, digits, bank, customer, text: content.slice(from), joined: text.join(",") };
};

/** An amount of a 03 record: a balance or a total. */
export type Stated = { type: string; digits: bigint; items: number | undefined };

const parseItems = (text: string): number | undefined =>
  /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/**
 * Reads the amounts of a 03 record with its continuations; undefined if its fields are unreadable. BAI2 2005,
 * 03 record: account, currency, then type code, amount, item count and funds type with its own fields, repeated.
 */
export const readSummary = (content: string): Stated[] | undefined => {
  const fields = content.split(/[,\n]/).map((field) => field.trim());
  const stated: Stated[] = [];
  let at = 3;
  while (at < fields.length) {
    const [type = "", amount = "", items = "", kind = "", next = ""] = fields.slice(at, at + 5);
    // A blank summary, or a comma too many at the end of a record, as some banks have it.
    if (type === "") {
      at += 1;
      continue;
    }
    const skipped = countFundsFields(kind, next);
    const digits = amount === "" ? 0n : parseDigits(amount);
    if (digits === undefined || skipped === undefined) return undefined;
    if (amount !== "") stated.push({ type, digits, items: parseItems(items) });
    at += 4 + skipped;
  }
  return stated;
};
