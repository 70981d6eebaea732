import type { Arguments } from "./tool.ts";

/** Arguments and records as a person may read them in a question. */

const MAX_CHARACTERS = 80;

export const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "";

/** The records of a list that was read. */
export const listItems = (list: Arguments | undefined): readonly Arguments[] | undefined =>
  list?.["items"] as readonly Arguments[] | undefined;

/** Quoted, on one line, of bounded length. */
export const quote = (value: unknown): string => {
  const text = [...String(value).replace(/\s+/g, " ").trim()];
  const shown = text.length > MAX_CHARACTERS ? [...text.slice(0, MAX_CHARACTERS), "…"] : text;
  return JSON.stringify(shown.join(""));
};

// Neither comma nor question mark nor quote: a name cannot pretend to be more of the question than it is.
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N} .&'’_/@+-]{0,79}$/u;

/** Bare where it reads as one name, else quoted. */
export const formatName = (value: unknown): string => {
  const text = String(value);
  return PLAIN_NAME.test(text) ? text : quote(text);
};

const countDecimals = (currency: string): number =>
  /^[A-Z]{3}$/.test(currency)
    ? (new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions()
        .minimumFractionDigits ?? 2)
    : 2;

const MAX_DECIMALS = 15;

/** `9,108.20 USD`; every decimal there is. */
export const formatMoney = (amount: unknown, currency: unknown): string => {
  if (typeof amount !== "number" || typeof currency !== "string") return formatName(amount);
  const minimumFractionDigits = countDecimals(currency);
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits,
    maximumFractionDigits: MAX_DECIMALS,
  });
  return `${format.format(amount)} ${formatName(currency)}`;
};

/** The first of some values that says anything. */
const findFirstValue = (...values: unknown[]): unknown =>
  values.find((value) => value !== undefined && value !== null && value !== "");

/** `D-5111726-02 of Juniper Street Hardware, 9,108.20 USD`; by its id where there is no record of it. */
export const describeDispute = (record: Arguments | undefined, disputeId: unknown): string => {
  if (record === undefined) return quote(disputeId);
  const { disputeCode, accountName, accountNumber, amount, currencyCode } = record;
  const code = formatName(findFirstValue(disputeCode, disputeId));
  return `${code} of ${formatName(findFirstValue(accountName, accountNumber))}, ${formatMoney(amount, currencyCode)}`;
};

/** `BILLING (Billing and pricing)`; as it was named in the call where there is no record of it. */
export const describeEntry = (record: Arguments | undefined, argument: unknown): string =>
  record === undefined
    ? quote(argument)
    : `${formatName(findFirstValue(record["code"], argument))} (${formatName(record["description"])})`;

/** `Carla Jennings (carla.jennings@company.example)`. */
export const describePerson = (record: Arguments | undefined, argument: unknown): string => {
  const person = record?.["person"];
  if (typeof person !== "object" || person === null) return quote(argument);
  const { firstName, lastName, email } = person as Arguments;
  return `${formatName(`${String(firstName)} ${String(lastName)}`)} (${formatName(email)})`;
};

const formatValue = (value: unknown): string =>
  typeof value === "boolean" || typeof value === "number" ? String(value) : formatName(value);

/** `poNumber cleared`, `isValid true`. */
export const describeChange = (name: string, value: unknown): string =>
  findFirstValue(value) === undefined ? `${name} cleared` : `${name} ${formatValue(value)}`;

/** `ACC-1 (Northwind Traders)`; by its number where there is no record of it. */
export const describeAccount = (record: Arguments | undefined, accountNumber: unknown): string =>
  record === undefined
    ? quote(accountNumber)
    : `${formatName(accountNumber)} (${formatName(record["name"])})`;

// The amounts that a document may have, each with its currency; the first one that is there is shown.
const DOCUMENT_AMOUNTS = [
  ["denomination", "currency"],
  ["denomination_in_original_currency", "original_currency"],
  ["denomination_in_base_currency", "base_currency"],
  ["original_denomination", "currency"],
] as const;

/** `INV-1 of account ACC-1, 1,204.55 USD`; by its number where there is no record of it. */
export const describeDocument = (
  record: Arguments | undefined,
  documentNumber: unknown,
): string => {
  if (record === undefined) return quote(documentNumber);
  const which = `${formatName(documentNumber)} of account ${formatName(record["account_number"])}`;
  const amount = DOCUMENT_AMOUNTS.find(([name]) => typeof record[name] === "number");
  return amount === undefined
    ? which
    : `${which}, ${formatMoney(record[amount[0]], record[amount[1]])}`;
};
