/**
 * The store's tables. Moments are epoch milliseconds, flags 0 or 1, JSON is text,
 * `*_folded` is what `fold` makes of its neighbour, `version` counts a record's changes from 1.
 */
export type Flag = 0 | 1;

type Tracked = {
  created_by: string;
  created_at: number;
  updated_by: string;
  updated_at: number;
  version: number;
};

export type TenantRow = {
  id: string;
  name: string;
  currency_model: "basic" | "extended";
  currency: string;
  connection_id: string;
  settings: string;
  is_partner: Flag;
  test_tenant_id: string | null;
  created_at: number;
};

export type RoleRow = { tenant_id: string; id: string; name: string; grants: string };

export type UserRow = {
  id: string;
  email: string;
  email_folded: string;
  password_hash: string | null;
  first_name: string;
  last_name: string;
  default_language: string;
  time_zone: string;
  default_tenant_id: string | null;
  last_login_at: number | null;
  last_login_method: string | null;
  created_at: number;
};

export type UserStatus = "Active" | "Inactive" | "Locked" | "Pending";

export type MembershipRow = {
  tenant_id: string;
  user_id: string;
  status: UserStatus;
  profile: string;
  added_at: number;
};

export type MembershipRoleRow = { tenant_id: string; user_id: string; role_id: string };

export type SessionRow = {
  id: string;
  token_hash: string;
  user_id: string;
  created_at: number;
  verified_at: number;
  used_at: number;
};

export type ApiKeyRow = {
  id: string;
  hash: string;
  prefix: string;
  user_id: string;
  tenant_id: string;
  created_at: number;
  used_at: number;
};

export type ExportKeyRow = {
  id: string;
  hash: string;
  prefix: string;
  tenant_id: string;
  name: string;
  scopes: string;
  created_at: number;
};

/** How often something happened in a fixed window of time. */
export type CounterRow = { key: string; count: number; window_ends_at: number };

/** The answer to a creating request that named a key, so that a repeat gets it again. */
export type IdempotencyKeyRow = {
  tenant_id: string;
  principal: string;
  operation: string;
  key: string;
  /** Of path and body. */
  request_hash: string;
  /** Sealed: what people wrote stands in it. Null where the answer held a secret. */
  answer: string | null;
  record_id: string;
  expires_at: number;
};

export type CategoryRow = Tracked & {
  tenant_id: string;
  id: string;
  code: string;
  code_folded: string;
  description: string;
  description_folded: string;
  default_internal_reason_id: string | null;
  default_external_reason_id: string | null;
  /** Who gets the category's disputes when nobody is named. */
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
  /** Decimal text, exact. */
  amount: string;
  /** The same as a double: at most 15 digits, so it orders and compares as the text does. */
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
  /** What names it in the file it was imported from. */
  source_key: string | null;
  /** What that file last said of it: a later import writes only what differs from this. */
  source_row: string | null;
};

/** The last number given to a dispute of a document; outlives the disputes. */
export type DisputeSequenceRow = { tenant_id: string; document_number: string; last: number };

/** How many disputes of a status a tenant has; kept by the store's own functions. */
export type DisputeTotalRow = { tenant_id: string; status: 0 | 1 | 2; total: number };

export type DisputeNoteRow = Tracked & {
  tenant_id: string;
  id: string;
  dispute_id: string;
  content: string;
  visibility: "Internal" | "All";
};

export type AccountRow = Tracked & {
  tenant_id: string;
  account_number: string;
  csr_id: number;
  name: string;
  /** The first one the account had; it stays. */
  currency: string | null;
  parent_account_number: string | null;
  /** All that was sent and is kept, as JSON, the columns above included. */
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
  /** The same as a moment: the order of an account's notes. */
  effective_at: number;
  created_by: string;
  created_at: number;
};

export type DocumentRow = Tracked & {
  tenant_id: string;
  document_number: string;
  csr_id: number;
  account_number: string;
  /** Of its disputes: its own, else its original one. */
  currency: string | null;
  status: "open" | "closed";
  /** All that was sent and is kept, as JSON. */
  fields: string;
};

/** A time that a document was closed, by whom and why; it stays when the document reopens. */
export type DocumentClosureRow = {
  tenant_id: string;
  document_number: string;
  /** From 1 for each document. */
  number: number;
  /** Null where nothing is left to pay, so that it closed by itself. */
  closure_reason: string | null;
  source: "api" | "mcp" | "import" | "auto";
  closed_at: number;
  notes: string | null;
  created_by: string;
  created_at: number;
};

export type DocumentAttachmentRow = {
  tenant_id: string;
  id: string;
  document_number: string;
  /** Where the file store has its bytes. */
  file_key: string;
  file_size: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
  uploaded_by: string;
  uploaded_at: number;
};

/** The last csrId given to a tenant's accounts or documents; they are never removed. */
export type CsrSequenceRow = { tenant_id: string; noun: "account" | "document"; last: number };

export type AuditLogRow = {
  tenant_id: string;
  seq: number;
  id: string;
  at: number;
  method: string;
  endpoint: string;
  action: string | null;
  status_code: number;
  metadata: string;
  schedule_id: string | null;
  /** What `q` looks through, folded. */
  search: string;
  prev_hash: string;
  hash: string;
};

/** The last link of a tenant's chain of audit entries. */
export type AuditHeadRow = { tenant_id: string; seq: number; hash: string };

export type Tables = {
  tenants: TenantRow;
  roles: RoleRow;
  users: UserRow;
  memberships: MembershipRow;
  membership_roles: MembershipRoleRow;
  sessions: SessionRow;
  api_keys: ApiKeyRow;
  export_keys: ExportKeyRow;
  counters: CounterRow;
  idempotency_keys: IdempotencyKeyRow;
  categories: CategoryRow;
  reasons: ReasonRow;
  departments: DepartmentRow;
  assignees: AssigneeRow;
  resolutions: ResolutionRow;
  disputes: DisputeRow;
  dispute_sequences: DisputeSequenceRow;
  dispute_totals: DisputeTotalRow;
  dispute_notes: DisputeNoteRow;
  accounts: AccountRow;
  account_notes: AccountNoteRow;
  documents: DocumentRow;
  document_closures: DocumentClosureRow;
  document_attachments: DocumentAttachmentRow;
  csr_sequences: CsrSequenceRow;
  audit_logs: AuditLogRow;
  audit_heads: AuditHeadRow;
};
