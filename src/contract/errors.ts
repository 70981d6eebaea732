/** An error code's HTTP status and title, whether a retry can succeed (`changed`: with other input), and who must act. */
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

/** Errors that any operation can return; operations do not list them in `errors`. */
export const SHARED_ERRORS = {
  invalid_request: defineError(400, "The request is not valid", "caller"),
  invalid_json: defineError(400, "The body is not valid JSON", "caller"),
  invalid_parameter: defineError(400, "A path or query parameter is not valid", "caller"),
  unauthenticated: defineError(401, "A valid credential is required", "user"),
  token_expired: defineError(401, "The session has expired", "user"),
  key_expired: defineError(401, "The API key has expired", "user"),
  forbidden_tenant: defineError(
    403,
    "The credential has no access to this tenant",
    "user",
    "never",
  ),
  forbidden_permission: defineError(
    403,
    "The credential lacks a required permission",
    "operator",
    "never",
  ),
  signed_url_refused: defineError(403, "The signed URL is invalid or has expired", "caller"),
  not_found: defineError(404, "The record does not exist", "caller"),
  method_not_allowed: defineError(405, "The path does not support this method", "caller"),
  idempotency_in_progress: defineError(
    409,
    "A request with this idempotency key is in progress",
    "caller",
    "later",
  ),
  idempotency_secret_shown_once: defineError(
    409,
    "The original response contained a secret",
    "user",
    "never",
  ),
  length_required: defineError(411, "Content-Length is required", "caller"),
  precondition_failed: defineError(412, "The record has changed since it was read", "caller"),
  payload_too_large: defineError(413, "The body is too large", "caller"),
  range_not_satisfiable: defineError(416, "The range is outside the file", "caller"),
  validation_failed: defineError(422, "The request is not valid", "caller"),
  unsupported_media_type: defineError(415, "The content type is not supported", "caller"),
  idempotency_key_reused: defineError(
    422,
    "The idempotency key belongs to another request",
    "caller",
  ),
  rate_limited: defineError(429, "Too many requests", "caller", "later"),
  storage_quota_exceeded: defineError(507, "The tenant's storage quota is exceeded", "user"),
  internal: defineError(500, "Internal server error", "operator", "later"),
  unavailable: defineError(503, "The service is unavailable", "operator", "later"),
} as const satisfies Record<string, ErrorDefinition>;

/** Errors that an operation lists in its `errors`. */
export const OPERATION_ERRORS = {
  invalid_credentials: defineError(401, "The e-mail address or password is incorrect", "user"),
  ambiguous_reason_code: defineError(400, "The reason code exists in several categories", "caller"),
  conflict: defineError(409, "The change conflicts with the current state", "caller"),
  duplicate_code: defineError(409, "The code already exists", "caller"),
  in_use: defineError(409, "The record is in use", "caller", "never"),
  invalid_transition: defineError(409, "The status transition is not allowed", "caller"),
  gone: defineError(410, "The record is no longer available", "caller", "never"),
  account_already_exists: defineError(409, "The account already exists", "caller"),
  document_already_exists: defineError(409, "The document already exists", "caller"),
  note_reference_already_exists: defineError(409, "The note reference already exists", "caller"),
  document_already_closed: defineError(409, "The document is already closed", "caller"),
  account_not_found: defineError(404, "The account does not exist", "caller"),
  document_not_found: defineError(404, "The document does not exist", "caller"),
  note_not_found: defineError(404, "The note does not exist", "caller"),
  attachment_not_found: defineError(404, "The attachment does not exist", "caller"),
} as const satisfies Record<string, ErrorDefinition>;

export const ERRORS = { ...SHARED_ERRORS, ...OPERATION_ERRORS };

export type SharedErrorCode = keyof typeof SHARED_ERRORS;
export type OperationErrorCode = keyof typeof OPERATION_ERRORS;
export type Code = SharedErrorCode | OperationErrorCode;

export const isCode = (text: unknown): text is Code =>
  typeof text === "string" && Object.hasOwn(ERRORS, text);

/** Error codes of the export service by HTTP status. */
export const EXPORT_CODES: Record<number, string> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "CONFLICT",
  410: "GONE",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "IDEMPOTENCY_KEY_REUSED",
  429: "RATE_LIMITED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

const RENAMED_CODES: Partial<Record<Code, string>> = {
  unauthenticated: "unauthorized",
  forbidden_permission: "forbidden",
  forbidden_tenant: "forbidden",
};

/** Returns the ingest API's name of an error code; most codes have the same name. */
export const toIngestCode = (code: Code): string => RENAMED_CODES[code] ?? code;

/** A validation error of one field; `field` is a path such as `person.email`. */
export type Fault = { field: string; code: string; message: string };

/** Data for a request's audit entry that only the service knows. */
export type AuditFacts = {
  /** The tenant of the audit entry, if the path names none. */
  tenantId?: string;
  /** The id of the user or key, if the request was not authenticated as such. */
  actor?: string;
  /** The id of the record, if the path does not end with it. */
  resourceId?: string;
  /** The record's state before the change, for operations whose audit action depends on it. */
  before?: unknown;
  /** Ids and codes only; never free text. */
  metadata?: Record<string, string>;
};

export type ProblemDetails = {
  errors?: Fault[];
  retryAfterSeconds?: number;
  /** The missing permission or scope. */
  permission?: string;
  /** The request id of the response that contained the problem. */
  requestId?: string;
  /** The record that the first request with the same idempotency key created. */
  recordId?: string;
  /** The request may or may not have taken effect, for example after a timeout. */
  uncertain?: boolean;
  /** The key with which the request can be retried without creating a second record. */
  idempotencyKey?: string;
  /** The platform's address or certificate is wrong, so a retry cannot succeed. */
  misconfigured?: boolean;
  /** The call needs a credential or tenant that no setting names; the message says which settings would. */
  unconfigured?: boolean;
  /** Advice to the person about a refused credential. */
  remedy?: string;
  /** Identifying fields of the record, for the ingest API's error body. */
  record?: Record<string, string>;
  /** Added to the audit entry of the refused request; never sent to the caller. */
  audit?: AuditFacts;
  headers?: Record<string, string>;
};

/** An expected error that the caller can act on. Any other thrown value is a bug and is answered as `internal`. */
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

/** Creates a problem with one field. */
export const createFieldProblem = (code: Code, fault: Fault): Problem =>
  new Problem(code, `${fault.field} ${fault.message}.`, { errors: [fault] });
