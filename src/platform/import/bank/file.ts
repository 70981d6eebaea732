import { createHash } from "node:crypto";
import { Problem } from "../../../contract/errors.ts";
import { parseJson } from "../../../kit/json.ts";
import type { Item } from "../rows.ts";

/** What a file says that is no reason to refuse it. */
export type Warn = (place: string, message: string) => void;

/** Reads a bank's file as payment rows, as it comes; refuses one that is not what it says. */
export type ReadBankFile = (
  bytes: AsyncIterable<Uint8Array>,
  warn: Warn,
) => AsyncGenerator<Item[], void, undefined>;

/** The file is not of its format: `place` is the line or segment at fault. */
export const malformed = (place: string, message: string): Problem =>
  new Problem("invalid_request", `The file is refused: ${place} ${message}. Nothing was changed.`);

/** A name that the same payment has each time its file is read. */
export const paymentIdOf = (format: string, ...facts: readonly string[]): string =>
  `${format}-${createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 24)}`;

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** An exact amount, or a value that no row takes where it has too many digits; undefined where it is no number. */
export const amountOf = (text: string): unknown => {
  if (!DECIMAL.test(text)) return undefined;
  const [whole = "", fraction = ""] = text.replace(/^[+-]/, "").split(".");
  const digits = `${whole.replace(/^0+/, "") || "0"}${fraction === "" ? "" : `.${fraction}`}`;
  return parseJson(`${text.startsWith("-") ? "-" : ""}${digits}`);
};

const PIVOT = 70;

/** `YYMMDD` or `YYYYMMDD` as a day; undefined where the calendar has none such. */
export const dayOf = (text: string): string | undefined => {
  const [, year, month, day] = /^(\d{4}|\d{2})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const full = year.length === 4 ? year : `${Number(year) < PIVOT ? "20" : "19"}${year}`;
  const at = new Date(Date.UTC(Number(full), Number(month) - 1, Number(day)));
  const isDay = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
  return isDay ? at.toISOString().slice(0, 10) : undefined;
};

/** The end of an account's number: the rest is never kept. */
export const last4 = (account: string): string | undefined => {
  const characters = account.replaceAll(/[^A-Za-z0-9]/g, "");
  return characters === "" ? undefined : characters.slice(-4);
};

/** Until a document is found, nothing of a payment is applied. */
export const UNAPPLIED = {
  applicationStatus: "unapplied",
  appliedAmount: 0,
  shortPay: false,
} as const;

/** Without the values that are missing. */
export const given = (cells: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(cells).filter(([, value]) => value !== undefined && value !== ""),
  );
