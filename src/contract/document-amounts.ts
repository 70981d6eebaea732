import type { StoredDocument } from "./operations/documents.ts";

// The open balance of a document with its original amount and its currency, in the order of preference.
const AMOUNTS = [
  ["denomination", "original_denomination", "currency"],
  [
    "denomination_in_original_currency",
    "original_denomination_in_original_currency",
    "original_currency",
  ],
  ["denomination_in_base_currency", "original_denomination_in_base_currency", "base_currency"],
] as const;

type Name = (typeof AMOUNTS)[number][number];

/** The fields of a document that tell its open balance. */
export const BALANCES = AMOUNTS.map(([balance]) => balance);

/** The fields of a document that tell its amounts. */
export type AmountFields = Pick<StoredDocument, "document_type" | Name>;

/** Amounts of a document in one currency; null where the document does not tell them. */
export type Amounts = {
  balance: number | null;
  original: number | null;
  currencyCode: string | null;
};

/** A credit note reduces the balance of its account, also if its amount was sent without a sign. */
const toSigned = ({ document_type }: AmountFields, amount: number | undefined): number | null => {
  if (amount === undefined) return null;
  return document_type === "credit_note" && amount > 0 ? -amount : amount;
};

/**
 * Returns the open balance and the amount that was billed, in the first currency with a balance; in that of an original
 * amount, which is then the balance too, where no balance is known.
 */
export const toAmounts = (fields: AmountFields): Amounts => {
  const [balance, original, currency] =
    AMOUNTS.find(([name]) => fields[name] !== undefined) ??
    AMOUNTS.find(([, name]) => fields[name] !== undefined) ??
    AMOUNTS[0];
  return {
    balance: toSigned(fields, fields[balance] ?? fields[original]),
    original: toSigned(fields, fields[original]),
    currencyCode: fields[currency] ?? fields.currency ?? fields.original_currency ?? null,
  };
};
