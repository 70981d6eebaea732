import type { Flag } from "./column.ts";

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
  /** Set while many transactions import or delete the tenant; it has no users then. */
  phase: "importing" | "paused" | "deleting" | null;
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

/** An address that a user has logged in from. */
export type KnownAddressRow = { user_id: string; address_hash: string; seen_at: number };

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

/** A program that calls without a person (RFC 6749, section 4.4). */
export type ClientRow = {
  id: string;
  tenant_id: string;
  name: string;
  role_id: string;
  /** Its public keys as a JWK set (RFC 7517); null if it has a secret. */
  jwks: string | null;
  secret_hash: string | null;
  /** Increases with each new credential, which ends what the former one gave access to. */
  version: number;
  created_at: number;
  updated_at: number;
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

export type PeopleTables = {
  tenants: TenantRow;
  roles: RoleRow;
  users: UserRow;
  memberships: MembershipRow;
  membership_roles: MembershipRoleRow;
  known_addresses: KnownAddressRow;
  sessions: SessionRow;
  api_keys: ApiKeyRow;
  export_keys: ExportKeyRow;
  clients: ClientRow;
  counters: CounterRow;
  idempotency_keys: IdempotencyKeyRow;
};
