import type { AccountFields } from "../../../contract/operations/accounts.ts";
import { toAmounts } from "../../../contract/document-amounts.ts";
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

/** Returns the columns by which a document is listed, searched and added up. */
export const toDocumentColumns = (
  documentNumber: string,
  fields: StoredDocument,
): DocumentColumns => {
  const { balance, original, currencyCode } = toAmounts(fields);
  const { document_type, due_date, invoice_date, invoice_num, po_number } = fields;
  return {
    document_type,
    due_on: toDay(due_date),
    invoice_on: toDay(invoice_date),
    balance,
    balance_currency: currencyCode,
    original_amount: original,
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
