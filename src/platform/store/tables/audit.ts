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
  /** Case-folded text that the parameter `q` searches. */
  search: string;
  prev_hash: string;
  hash: string;
};

/** The last link of a tenant's chain of audit entries, and the last one that was purged. */
export type AuditHeadRow = {
  tenant_id: string;
  seq: number;
  hash: string;
  purged_seq: number;
  purged_hash: string;
  /** The code of this row under the audit key; empty where the chain was changed outside the program. */
  mac: string;
  /** Names the audit key; see `AuditKey`. */
  key_id: string;
};

/** An audit key that a rotation of the master key has replaced; entries from before need it. */
export type AuditKeyRow = {
  id: string;
  /** Sealed. */
  sealed: string;
  retired_at: number;
};

export type AuditTables = {
  audit_keys: AuditKeyRow;
  audit_logs: AuditLogRow;
  audit_heads: AuditHeadRow;
};
