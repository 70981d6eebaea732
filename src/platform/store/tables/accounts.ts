import type { DocumentHistory, StoredDocument } from "../../../contract/operations/documents.ts";
import type { Tracked } from "./column.ts";

export type AccountRow = Tracked & {
  tenant_id: string;
  account_number: string;
  csr_id: number;
  name: string;
  name_folded: string;
  /** The account's first one; it never changes. */
  currency: string | null;
  parent_account_number: string | null;
  account_group: string | null;
  /** Name, number and display reference, folded, each after two line feeds. */
  search_text: string;
  /** All stored fields of the account as JSON, including the columns above. */
  fields: string;
};

export type AccountNoteRow = {
  tenant_id: string;
  reference: string;
  account_number: string;
  body: string;
  subject: string | null;
  note_type: string | null;
  effective_date: string;
  /** `effective_date` as epoch milliseconds, by which notes are sorted. */
  effective_at: number;
  created_by: string;
  created_at: number;
};

export type DocumentRow = Tracked & {
  tenant_id: string;
  document_number: string;
  csr_id: number;
  account_number: string;
  /** The number under which its customer knows it. */
  invoice_num: string | null;
  /** Currency of its disputes: its own, else its original one. */
  currency: string | null;
  status: "open" | "closed";
  document_type: StoredDocument["document_type"];
  /** The days of its dates, in UTC. */
  due_on: string;
  invoice_on: string;
  /** The open balance, with at most 15 digits. */
  balance: number | null;
  balance_currency: string | null;
  /** Document, invoice and purchase order number, folded, each after two line feeds. */
  search_text: string;
  /** Keys of document and invoice number where they differ from these; see `toNumberKey`. */
  number_key: string | null;
  invoice_key: string | null;
  /** Key of the invoice that a credit note reduces. */
  applies_to_key: string | null;
  /** Key of its purchase order. */
  po_key: string | null;
  /** When its amounts were last sent, as a timestamp. */
  balance_at: string | null;
  /** The amount that was billed, in the currency of the balance. */
  original_amount: number | null;
  /** The times of its first balance and of its present one in `document_balances`; null before there are any. */
  balance_known_from: number | null;
  balance_recorded_at: number | null;
  /** The balance before the present one in `document_balances`; null without one, or where the history has to tell. */
  former_at: number | null;
  former_status: "open" | "closed" | null;
  former_balance: number | null;
  former_currency: string | null;
  /** All stored fields of the document, as JSON. */
  fields: string;
};

/** A closure of a document; it stays when the document reopens. */
export type DocumentClosureRow = {
  tenant_id: string;
  document_number: string;
  /** From 1 for each document. */
  number: number;
  /** Null if the document closed because its balance is zero. */
  closure_reason: string | null;
  source: "api" | "mcp" | "import" | "auto";
  closed_at: number;
  notes: string | null;
  created_by: string;
  created_at: number;
};

export type BalanceCause = DocumentHistory["balances"][number]["cause"];

/**
 * A document's balance from a time on. At a moment, the row with the highest version among those of that moment or
 * earlier holds: a closing that is dated back also counts for what was recorded between its day and its entry.
 */
export type DocumentBalanceRow = {
  tenant_id: string;
  document_number: string;
  /** The version of the document that has this balance. */
  version: number;
  /** The time of the change; of a closing, its own time. */
  recorded_at: number;
  status: DocumentRow["status"];
  /** Zero for a closed document, null for one without amounts. */
  balance: number | null;
  currency: string | null;
  cause: BalanceCause;
};

export type DocumentAttachmentRow = {
  tenant_id: string;
  id: string;
  document_number: string;
  /** Key in the file store. */
  file_key: string;
  file_size: number;
  /** Hash of its bytes, in hexadecimal. */
  sha256: string;
  uploaded_by: string;
  uploaded_at: number;
};

/** The last csrId given to a tenant's accounts or documents; they are never removed. */
export type CsrSequenceRow = { tenant_id: string; noun: "account" | "document"; last: number };

export type BusinessUnitRow = {
  tenant_id: string;
  id: string;
  display_name: string;
  /** Its values with their names, as JSON. */
  value_list: string;
};

/** A company's score at a time; the newest one counts. */
export type CompanyScoreRow = {
  tenant_id: string;
  company_id: string;
  as_of: number;
  /** As JSON. */
  fields: string;
};

export type CreditApplicationRow = {
  tenant_id: string;
  id: string;
  status_type: string;
  /** The time of the last change of status, and of the last read or change. */
  status_at: number;
  activity_at: number;
  /** Every value of a business unit that it names anywhere, as a JSON list. */
  unit_ids: string;
  /** JSON of the list entry. */
  summary: string;
  /** With its forms and answers, as JSON. */
  detail: string;
};

export type AccountsTables = {
  accounts: AccountRow;
  account_notes: AccountNoteRow;
  documents: DocumentRow;
  document_closures: DocumentClosureRow;
  document_balances: DocumentBalanceRow;
  document_attachments: DocumentAttachmentRow;
  csr_sequences: CsrSequenceRow;
  business_units: BusinessUnitRow;
  company_scores: CompanyScoreRow;
  credit_applications: CreditApplicationRow;
};
