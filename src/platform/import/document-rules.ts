import type { Fault } from "../../contract/errors.ts";
import { isOfType } from "../services/documents/rules.ts";
import type { Fields as Sent } from "../services/ingest/body.ts";
import { checkDecimals, isCurrency } from "./currencies.ts";
import { parseDay } from "./dates.ts";
import type { FieldSpec, Roles } from "./fields.ts";

/** The amounts of a document of which a row needs one, and the field of their currency. */
const AMOUNTS: Readonly<Record<string, string>> = {
  denomination: "currency",
  original_denomination: "currency",
  original_denomination_in_original_currency: "original_currency",
  denomination_in_original_currency: "original_currency",
  original_denomination_in_base_currency: "base_currency",
  denomination_in_base_currency: "base_currency",
};

const OTHER_AMOUNTS: Readonly<Record<string, string>> = {
  discount_amount: "currency",
  freight_amount: "currency",
  tax_amount: "currency",
};

const MONEY = Object.entries({ ...AMOUNTS, ...OTHER_AMOUNTS });
const DAYS = ["invoice_date", "due_date", "discount_date"];
const NO_AMOUNT: Fault = {
  field: "denomination",
  code: "required",
  message: `is required, or another amount: ${Object.keys(AMOUNTS).slice(1).join(", ")}`,
};

const describeAmount = ([name, currency]: [string, string]): [string, Omit<FieldSpec, "kind">] => {
  const spec = { currency, negativeMark: "CR" as const };
  return [name, name in AMOUNTS ? { ...spec, role: "amount", required: "amount" } : spec];
};

const roles: Roles = {
  ...Object.fromEntries(MONEY.map(describeAmount)),
  invoice_date: { role: "day", required: "invoice_date" },
  due_date: { role: "day", required: "due_date" },
  discount_date: { role: "day" },
  currency: { role: "currency" },
  original_currency: { role: "currency" },
  base_currency: { role: "currency" },
};

/** Takes the written day of each date: the service would convert a timestamp to the day in UTC. */
const takeDays = (sent: Sent): Sent => {
  let result = sent;
  for (const name of DAYS) {
    const value = sent[name];
    if (typeof value !== "string" || value.length === 10) continue;
    const day = parseDay(value);
    if (day !== undefined) result = { ...result, [name]: day };
  }
  return result;
};

const checkAmounts = (sent: Sent): Fault[] => {
  const faults: Fault[] = [];
  for (const [name, field] of MONEY) {
    const { [name]: value, [field]: currency } = sent;
    if (value === undefined || typeof currency !== "string" || !isCurrency(currency)) continue;
    faults.push(...checkDecimals(name, value, currency));
  }
  return faults;
};

/** A credit note reduces what is owed, so the amounts of a file are negative; over REST a positive one reduces, too. */
const checkSigns = (sent: Sent): Fault[] =>
  !isOfType(sent, "credit_note")
    ? []
    : Object.keys(AMOUNTS).flatMap((field): Fault[] => {
        const amount = sent[field];
        if (typeof amount !== "number" || amount <= 0) return [];
        const message = `is ${amount}, but a credit note reduces: write -${amount}, or have the map turn it with "signFrom": {"column": "document_type", "negative": ["credit_note"]}`;
        return [{ field, code: "sign", message }];
      });

const hasAmount = (sent: Sent): boolean => {
  for (const name in AMOUNTS) if ((sent[name] ?? null) !== null) return true;
  return false;
};

/** The rules of documents in import files: an amount, with the decimals of its currency, and days as they are written. */
export const DOCUMENT_RULES = {
  roles,
  prepare(named: Sent) {
    const faults = [...checkAmounts(named), ...checkSigns(named)];
    if (!hasAmount(named)) faults.unshift(NO_AMOUNT);
    return { sent: takeDays(named), faults };
  },
};
