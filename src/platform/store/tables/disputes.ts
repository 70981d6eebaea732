import type { Flag, Tracked } from "./column.ts";

export type CategoryRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
  default_internal_reason_id: string | null;
  default_external_reason_id: string | null;
  /** The assignee of new disputes of the category that name no assignee. */
  default_assignee_id: string | null;
};

export type ReasonRow = Tracked & {
  tenant_id: string;
  id: string;
  category_id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
  active: Flag;
  visibility: "Internal" | "External" | "All";
  /** Days within which disputes with the reason are to be decided; null: those of the tenant. */
  dispute_days: number | null;
};

export type DepartmentRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
};

export type AssigneeRow = Tracked & {
  tenant_id: string;
  id: string;
  department_id: string;
  user_id: string | null;
  email: string;
  email_folded: string;
  first_name: string;
  last_name: string;
  /** First and last name, folded. */
  name_folded: string;
  /** Phones, title, language, timezone, address. */
  person: string;
  active: Flag;
  all_updates: Flag;
  daily_digest: Flag;
};

export type ResolutionRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  active: Flag;
  is_valid: Flag;
  apply_when_invoice_closed: Flag;
};

export type DisputeRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  document_number: string;
  account_number: string;
  account_name: string | null;
  account_name_folded: string | null;
  /** Decimal text, exact. */
  amount: string;
  /** The amount as a double: with at most 15 digits it orders and compares like the text. */
  amount_order: number;
  currency_code: string;
  reason_id: string;
  external_reason_id: string | null;
  assignee_id: string | null;
  po_number: string | null;
  status: 0 | 1 | 2;
  is_valid: Flag;
  resolution_id: string | null;
  closed_at: number | null;
  origin: string;
  /** The key of its row in the imported file. */
  source_key: string | null;
  /** Its row in the last imported file; the next import writes only the differences. */
  source_row: string | null;
};

/** The last number given to a dispute of a document; outlives the disputes. */
export type DisputeSequenceRow = { tenant_id: string; document_number: string; last: number };

/** The number of a tenant's disputes of a status, maintained by the store's functions. */
export type DisputeTotalRow = { tenant_id: string; status: 0 | 1 | 2; total: number };

export type DisputeNoteRow = Tracked & {
  tenant_id: string;
  id: string;
  dispute_id: string;
  content: string;
  visibility: "Internal" | "All";
};

export type DisputeAttachmentRow = Tracked & {
  tenant_id: string;
  /** The expiry of the upload URL too. */
  id: string;
  dispute_id: string;
  file_name: string;
  visibility: "Internal" | "All";
  status: "PendingScan" | "Available" | "Infected" | "Rejected" | "Failed" | "Expired";
  /** The reasons why it is not available, as JSON: a list of codes with messages. */
  failure_reasons: string;
  /** Unusual features of an available file, as JSON: a list of codes with messages; null before the scan. */
  scan_warnings: string | null;
  upload_expires_at: number;
  uploaded_at: number | null;
  /** Key in the file store; null before the upload and after a refused scan. */
  file_key: string | null;
  file_size: number | null;
  /** Hash of its bytes, in hexadecimal. */
  sha256: string | null;
};

export type DisputesTables = {
  categories: CategoryRow;
  reasons: ReasonRow;
  departments: DepartmentRow;
  assignees: AssigneeRow;
  resolutions: ResolutionRow;
  disputes: DisputeRow;
  dispute_sequences: DisputeSequenceRow;
  dispute_totals: DisputeTotalRow;
  dispute_notes: DisputeNoteRow;
  dispute_attachments: DisputeAttachmentRow;
};
