/** Every way an operation can be refused: its HTTP status, a title, whether trying again can help, and who must act. */
type ErrorDefinition = {
  status: number;
  title: string;
  retry: "never" | "changed" | "later";
  act: "caller" | "user" | "operator";
};

const defineError = (
  status: number,
  title: string,
  act: ErrorDefinition["act"],
  retry: ErrorDefinition["retry"] = "changed",
): ErrorDefinition => ({
  status,
  title,
  retry,
  act,
});

/** Codes that any operation may answer with; an operation never lists them. */
export const SHARED_ERRORS = {
  invalid_request: defineError(400, "The request is not valid", "caller"),
  invalid_json: defineError(400, "The body is not valid JSON", "caller"),
  invalid_parameter: defineError(400, "A path or query parameter is not valid", "caller"),
  unauthenticated: defineError(401, "A valid credential is needed", "user"),
  token_expired: defineError(401, "The session has expired", "user"),
  key_expired: defineError(401, "The API key has expired", "user"),
  forbidden_tenant: defineError(
    403,
    "The credential gives no access to this tenant",
    "user",
    "never",
  ),
  forbidden_permission: defineError(403, "The credential lacks a permission", "operator", "never"),
  signed_url_refused: defineError(403, "The signed URL does not hold", "caller"),
  not_found: defineError(404, "There is no such record", "caller"),
  method_not_allowed: defineError(405, "The method is not allowed here", "caller"),
  idempotency_in_progress: defineError(
    409,
    "The first request with this key is under way",
    "caller",
    "later",
  ),
  idempotency_secret_shown_once: defineError(409, "The answer held a secret", "user", "never"),
  length_required: defineError(411, "The length of the body must be told", "caller"),
  precondition_failed: defineError(412, "The record has changed since it was read", "caller"),
  payload_too_large: defineError(413, "The body is too large", "caller"),
  validation_failed: defineError(422, "The request is not valid", "caller"),
  unsupported_media_type: defineError(415, "The body must be JSON", "caller"),
  idempotency_key_reused: defineError(
    422,
    "The idempotency key was sent with another request",
    "caller",
  ),
  rate_limited: defineError(429, "Too many requests", "caller", "later"),
  storage_quota_exceeded: defineError(507, "The tenant's storage is full", "user"),
  internal: defineError(500, "Something went wrong in the service", "operator", "later"),
  unavailable: defineError(503, "The service is not available", "operator", "later"),
} as const satisfies Record<string, ErrorDefinition>;

/** Codes that an operation lists in its `fails`. */
export const OPERATION_ERRORS = {
  invalid_credentials: defineError(401, "The e-mail address or the password is wrong", "user"),
  ambiguous_reason_code: defineError(400, "The reason code stands in several categories", "caller"),
  conflict: defineError(409, "The change conflicts with the present state", "caller"),
  duplicate_code: defineError(409, "The code is taken", "caller"),
  in_use: defineError(409, "The record is in use", "caller", "never"),
  invalid_transition: defineError(409, "The status cannot change that way", "caller"),
  gone: defineError(410, "The record is kept no longer", "caller", "never"),
  account_already_exists: defineError(409, "The account exists", "caller"),
  document_already_exists: defineError(409, "The document exists", "caller"),
  note_reference_already_exists: defineError(409, "The note's reference is taken", "caller"),
  document_already_closed: defineError(409, "The document is closed", "caller"),
  account_not_found: defineError(404, "There is no such account", "caller"),
  document_not_found: defineError(404, "There is no such document", "caller"),
  note_not_found: defineError(404, "There is no such note", "caller"),
  attachment_not_found: defineError(404, "There is no such attachment", "caller"),
} as const satisfies Record<string, ErrorDefinition>;

export const ERRORS = { ...SHARED_ERRORS, ...OPERATION_ERRORS };

export type SharedErrorCode = keyof typeof SHARED_ERRORS;
export type OperationErrorCode = keyof typeof OPERATION_ERRORS;
export type Code = SharedErrorCode | OperationErrorCode;

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
