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

/** The count of events in a fixed window of time. */
export type CounterRow = { key: string; count: number; window_ends_at: number };

/** The stored answer to a creating request with an Idempotency-Key. */
export type IdempotencyKeyRow = {
  tenant_id: string;
  principal: string;
  operation: string;
  key: string;
  /** Of path and body. */
  request_hash: string;
  /** Encrypted, because it contains text that users wrote. Null if the response contained a secret. */
  answer: string | null;
  record_id: string;
  expires_at: number;
};

export type CredentialsTables = {
  sessions: SessionRow;
  api_keys: ApiKeyRow;
  export_keys: ExportKeyRow;
  counters: CounterRow;
  idempotency_keys: IdempotencyKeyRow;
};
