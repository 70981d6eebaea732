import type { Flag } from "./column.ts";

/** A job that is due at a time; `leased_until` is in the past while no worker has it. */
export type JobRow = {
  kind: string;
  id: string;
  tenant_id: string;
  lane: string;
  due_at: number;
  tries: number;
  lease: string | null;
  leased_until: number;
};

/** When a lane was last served: the lane served longest ago is served next. */
export type JobTurnRow = { kind: string; lane: string; served_at: number };

/** The file store that the database's files are in: one row. */
export type FileStoreRow = {
  name: string;
  id: string;
  /** Whether the file store is known to have its id; until then it may be written there. */
  is_written: Flag;
};

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

/** A table that a person saved as a file. It is removed after `expires_at`. */
export type SavedFileRow = {
  tenant_id: string;
  /** Hash of the caller that saved it, who alone may read it. */
  owner: string;
  name: string;
  file_key: string;
  file_size: number;
  expires_at: number;
};

/** The end of a tenant's chain at a time, which a reader without the audit key can compute and check. */
export type EvidenceHeadRow = {
  tenant_id: string;
  /** The number of the last entry. */
  seq: number;
  /** The unkeyed link of that entry, in hexadecimal digits. */
  link: string;
  at: number;
  /** Names the key of `evidence_keys`; empty, with the signature, where retention left the link only. */
  key_id: string;
  signature: string;
  /** The code (HMAC) of the link that retention left for the entries that remain; empty for any other. */
  mac: string;
};

/** A key pair that signs evidence (Ed25519). The one with the highest number signs. */
export type EvidenceKeyRow = {
  number: number;
  id: string;
  /** SPKI, base64. */
  public_key: string;
  /** The private key, PKCS #8, sealed; empty once another key has replaced it. */
  sealed: string;
  created_at: number;
  /** Signatures of the former key over this one, and of this one over the former; empty for the first key. */
  signed_by_former: string;
  signs_former: string;
};

export type WorkTables = {
  jobs: JobRow;
  job_turns: JobTurnRow;
  file_stores: FileStoreRow;
  saved_files: SavedFileRow;
  program_versions: { version: string; opened_at: number };
  audit_keys: AuditKeyRow;
  audit_logs: AuditLogRow;
  audit_heads: AuditHeadRow;
  evidence_heads: EvidenceHeadRow;
  evidence_keys: EvidenceKeyRow;
};
