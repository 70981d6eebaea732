import type { Arguments } from "./tool.ts";

/** Arguments and records as a person may read them in a question. */

const SHOWN_CHARACTERS = 80;

export const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "";

/** The records of a list that was read. */
export const itemsOf = (list: Arguments | undefined): readonly Arguments[] | undefined =>
  list?.["items"] as readonly Arguments[] | undefined;

/** Quoted, on one line, of bounded length. */
export const quoted = (value: unknown): string => {
  const text = [...String(value).replace(/\s+/g, " ").trim()];
  const shown = text.length > SHOWN_CHARACTERS ? [...text.slice(0, SHOWN_CHARACTERS), "…"] : text;
  return JSON.stringify(shown.join(""));
};

// Neither comma nor question mark nor quote: a name cannot pretend to be more of the question than it is.
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} .&'’_/@+-]{0,79}$/u;

/** Bare where it reads as one name, else quoted. */
export const named = (value: unknown): string => {
  const text = String(value);
  return PLAIN.test(text) ? text : quoted(text);
};

const decimalsOf = (currency: string): number =>
  /^[A-Z]{3}$/.test(currency)
    ? (new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
        .minimumFractionDigits ?? 2)
    : 2;

const MOST_DECIMALS = 15;

/** `9,108.20 USD`; every decimal there is. */
export const money = (amount: unknown, currency: unknown): string => {
  if (typeof amount !== "number" || typeof currency !== "string") return named(amount);
  const minimumFractionDigits = decimalsOf(currency);
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits,
    maximumFractionDigits: MOST_DECIMALS,
  });
  return `${format.format(amount)} ${named(currency)}`;
};

/** The first of some values that says anything. */
const first = (...values: unknown[]): unknown =>
  values.find((value) => value !== undefined && value !== null && value !== "");

/** `D-5111726-02 of Juniper Street Hardware, 9,108.20 USD`; by its id where there is no record of it. */
export const disputeNamed = (record: Arguments | undefined, disputeId: unknown): string => {
  if (record === undefined) return quoted(disputeId);
  const { disputeCode, accountName, accountNumber, amount, currencyCode } = record;
  const code = named(first(disputeCode, disputeId));
  return `${code} of ${named(first(accountName, accountNumber))}, ${money(amount, currencyCode)}`;
};

/** `BILLING (Billing and pricing)`; as it was named in the call where there is no record of it. */
export const entryNamed = (record: Arguments | undefined, argument: unknown): string =>
  record === undefined
    ? quoted(argument)
    : `${named(first(record["code"], argument))} (${named(record["description"])})`;

/** `Carla Jennings (carla.jennings@company.example)`. */
export const personNamed = (record: Arguments | undefined, argument: unknown): string => {
  const person = record?.["person"];
  if (typeof person !== "object" || person === null) return quoted(argument);
  const { firstName, lastName, email } = person as Arguments;
  return `${named(`${String(firstName)} ${String(lastName)}`)} (${named(email)})`;
};

const said = (value: unknown): string =>
  typeof value === "boolean" || typeof value === "number" ? String(value) : named(value);

/** `poNumber cleared`, `isValid true`. */
export const changeNamed = (name: string, value: unknown): string =>
  first(value) === undefined ? `${name} cleared` : `${name} ${said(value)}`;

/** `ACC-1 (Northwind Traders)`; by its number where there is no record of it. */
export const accountNamed = (record: Arguments | undefined, accountNumber: unknown): string =>
  record === undefined
    ? quoted(accountNumber)
    : `${named(accountNumber)} (${named(record["name"])})`;

// The amounts that a document may have, each with its currency; the first one that is there is shown.
const DOCUMENT_AMOUNTS = [
  ["denomination", "currency"],
  ["denomination_in_original_currency", "original_currency"],
  ["denomination_in_base_currency", "base_currency"],
  ["original_denomination", "currency"],
] as const;

/** `INV-1 of account ACC-1, 1,204.55 USD`; by its number where there is no record of it. */
export const documentNamed = (record: Arguments | undefined, documentNumber: unknown): string => {
  if (record === undefined) return quoted(documentNumber);
  const which = `${named(documentNumber)} of account ${named(record["account_number"])}`;
  const amount = DOCUMENT_AMOUNTS.find(([name]) => typeof record[name] === "number");
  return amount === undefined ? which : `${which}, ${money(record[amount[0]], record[amount[1]])}`;
};
