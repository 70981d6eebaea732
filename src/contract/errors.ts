/** Every way an operation can be refused: its HTTP status, a title, whether trying again can help, and who must act. */
type Row = {
  status: number;
  title: string;
  retry: "never" | "changed" | "later";
  act: "caller" | "user" | "operator";
};

const row = (
  status: number,
  title: string,
  act: Row["act"],
  retry: Row["retry"] = "changed",
): Row => ({
  status,
  title,
  retry,
  act,
});

/** Codes that any operation may answer with; an operation never lists them. */
export const SHARED = {
  invalid_request: row(400, "The request is not valid", "caller"),
  invalid_json: row(400, "The body is not valid JSON", "caller"),
  invalid_parameter: row(400, "A path or query parameter is not valid", "caller"),
  unauthenticated: row(401, "A valid credential is needed", "user"),
  token_expired: row(401, "The session has expired", "user"),
  key_expired: row(401, "The API key has expired", "user"),
  forbidden_tenant: row(403, "The credential gives no access to this tenant", "user", "never"),
  forbidden_permission: row(403, "The credential lacks a permission", "operator", "never"),
  signed_url_refused: row(403, "The signed URL does not hold", "caller"),
  not_found: row(404, "There is no such record", "caller"),
  method_not_allowed: row(405, "The method is not allowed here", "caller"),
  idempotency_in_progress: row(
    409,
    "The first request with this key is under way",
    "caller",
    "later",
  ),
  idempotency_secret_shown_once: row(409, "The answer held a secret", "user", "never"),
  length_required: row(411, "The length of the body must be told", "caller"),
  precondition_failed: row(412, "The record has changed since it was read", "caller"),
  payload_too_large: row(413, "The body is too large", "caller"),
  validation_failed: row(422, "The request is not valid", "caller"),
  unsupported_media_type: row(415, "The body must be JSON", "caller"),
  idempotency_key_reused: row(422, "The idempotency key was sent with another request", "caller"),
  rate_limited: row(429, "Too many requests", "caller", "later"),
  storage_quota_exceeded: row(507, "The tenant's storage is full", "user"),
  internal: row(500, "Something went wrong in the service", "operator", "later"),
  unavailable: row(503, "The service is not available", "operator", "later"),
} as const satisfies Record<string, Row>;

/** Codes that an operation lists in its `fails`. */
export const OWN = {
  invalid_credentials: row(401, "The e-mail address or the password is wrong", "user"),
  ambiguous_reason_code: row(400, "The reason code stands in several categories", "caller"),
  conflict: row(409, "The change conflicts with the present state", "caller"),
  duplicate_code: row(409, "The code is taken", "caller"),
  in_use: row(409, "The record is in use", "caller", "never"),
  invalid_transition: row(409, "The status cannot change that way", "caller"),
  gone: row(410, "The record is kept no longer", "caller", "never"),
  account_already_exists: row(409, "The account exists", "caller"),
  document_already_exists: row(409, "The document exists", "caller"),
  note_reference_already_exists: row(409, "The note's reference is taken", "caller"),
  document_already_closed: row(409, "The document is closed", "caller"),
  account_not_found: row(404, "There is no such account", "caller"),
  document_not_found: row(404, "There is no such document", "caller"),
  note_not_found: row(404, "There is no such note", "caller"),
  attachment_not_found: row(404, "There is no such attachment", "caller"),
} as const satisfies Record<string, Row>;

export const ERRORS = { ...SHARED, ...OWN };

export type SharedCode = keyof typeof SHARED;
export type OwnCode = keyof typeof OWN;
export type Code = SharedCode | OwnCode;

export const isCode = (text: unknown): text is Code =>
  typeof text === "string" && Object.hasOwn(ERRORS, text);

/** One thing wrong with one field; `field` is a path such as `person.email`. */
export type Fault = { field: string; code: string; message: string };

/** Facts for the audit entry of a request that only the service knows. */
export type AuditFacts = {
  /** The tenant whose log gets the entry, where the path names none. */
  tenantId?: string;
  /** The record's state before the change, for operations whose audit action depends on it. */
  before?: unknown;
  /** Ids and codes, never text that a person wrote. */
  metadata?: Record<string, string>;
};

export type ProblemDetails = {
  errors?: Fault[];
  retryAfterSeconds?: number;
  /** The permission or scope that is missing. */
  permission?: string;
  /** Of the answer that bore the problem. */
  requestId?: string;
  /** The record that a repeated request made the first time. */
  recordId?: string;
  /** Nobody knows whether the platform has acted. */
  uncertain?: boolean;
  /** With it the same request may be made again: what it made is not made twice. */
  idempotencyKey?: string;
  /** Waiting does not help: the platform's address or its certificate is wrong. */
  misconfigured?: boolean;
  /** What names the record, as the ingest API's body tells it. */
  record?: Record<string, string>;
  /** Written to the audit entry of the refused request, never sent to the caller. */
  audit?: AuditFacts;
  headers?: Record<string, string>;
};

/** A refusal that its receiver can act upon. Anything else thrown is a fault of ours. */
export class Problem extends Error {
  readonly code: Code;
  readonly details: ProblemDetails;

  constructor(code: Code, message: string, details: ProblemDetails = {}, cause?: unknown) {
    super(message, { cause });
    this.name = "Problem";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
