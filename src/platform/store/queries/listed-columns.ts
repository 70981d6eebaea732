import type { AccountFields } from "../../../contract/operations/accounts.ts";
import type { StoredDocument } from "../../../contract/operations/documents.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { fold } from "../engine/fold.ts";
import { toNumberKey } from "../../../contract/number-key.ts";
import { toSearchText } from "../engine/search.ts";
import type { AccountRow, DocumentRow } from "../tables/schema.ts";

type AccountColumns = Pick<AccountRow, "name_folded" | "account_group" | "search_text">;

/** Returns the columns by which an account is listed and searched. */
export const toAccountColumns = (
  accountNumber: string,
  { name, display_reference, account_group }: AccountFields,
): AccountColumns => ({
  name_folded: fold(name),
  account_group: account_group ?? null,
  search_text: toSearchText([name, accountNumber, display_reference]),
});

const DAY_LENGTH = 10;

/** The day of a date, or of a date-time in UTC. */
const toDay = (date: string): string =>
  date.length === DAY_LENGTH ? date : formatTimestamp(Date.parse(date)).slice(0, DAY_LENGTH);

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

/** Finds the amounts of the first currency with a balance; with an original amount, where no balance is known. */
const findAmounts = (fields: StoredDocument) =>
  AMOUNTS.find(([balance]) => fields[balance] !== undefined) ??
  AMOUNTS.find(([, original]) => fields[original] !== undefined) ??
  AMOUNTS[0];

type DocumentColumns = Pick<
  DocumentRow,
  | "document_type"
  | "due_on"
  | "invoice_on"
  | "balance"
  | "balance_currency"
  | "original_amount"
  | "search_text"
>;

/** A credit note reduces the balance of its account, also if its amount was sent without a sign. */
const toSigned = (
  { document_type }: Pick<StoredDocument, "document_type">,
  amount: number | undefined,
): number | null => {
  if (amount === undefined) return null;
  return document_type === "credit_note" && amount > 0 ? -amount : amount;
};

/** Returns the columns by which a document is listed, searched and added up. */
export const toDocumentColumns = (
  documentNumber: string,
  fields: StoredDocument,
): DocumentColumns => {
  const [balance, original, currency] = findAmounts(fields);
  const { document_type, due_date, invoice_date, invoice_num, po_number } = fields;
  return {
    document_type,
    due_on: toDay(due_date),
    invoice_on: toDay(invoice_date),
    balance: toSigned(fields, fields[balance] ?? fields[original]),
    balance_currency: fields[currency] ?? fields.currency ?? fields.original_currency ?? null,
    original_amount: toSigned(fields, fields[original]),
    search_text: toSearchText([documentNumber, invoice_num, po_number]),
  };
};

type DocumentKeys = Pick<DocumentRow, "number_key" | "invoice_key" | "applies_to_key" | "po_key">;

/** A key that differs from the text itself; the text is found without it. */
const toOtherKey = (text: string | undefined): string | null => {
  const key = toNumberKey(text ?? "");
  return key === text || key === "" ? null : key;
};

/** Returns the columns by which payments and claims find a document, and a document its credit notes. */
export const toDocumentKeys = (
  documentNumber: string,
  { invoice_num, applies_to_invoice, po_number }: StoredDocument,
): DocumentKeys => ({
  number_key: toOtherKey(documentNumber),
  invoice_key: invoice_num === documentNumber ? null : toOtherKey(invoice_num),
  applies_to_key: toNumberKey(applies_to_invoice ?? "") || null,
  po_key: toNumberKey(po_number ?? "") || null,
});
