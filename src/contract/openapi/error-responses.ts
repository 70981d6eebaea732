import {
  type Code,
  ERRORS,
  EXPORT_CODES,
  SHARED_ERRORS,
  type SharedErrorCode,
  toIngestCode,
} from "../errors.ts";
import type { Operation, Service } from "../operation.ts";
import {
  hasTenant,
  isCreating,
  isGateway,
  isIngest,
  isRateLimited,
  hasRecordId,
  needsCredential,
  canRequireVersion,
} from "./operation-traits.ts";
import { buildHeaderRefs } from "./headers.ts";
import type { JsonSchema } from "./schemas.ts";

const hasBody = ({ body, raw }: Operation): boolean => body !== null || raw !== null;
const isGatewayWithCredential = (operation: Operation): boolean =>
  isGateway(operation) && needsCredential(operation);

/** Operations to which a shared error code applies; codes without an entry apply to all. */
const APPLIES_TO: Partial<Record<SharedErrorCode, (operation: Operation) => boolean>> = {
  invalid_request: (operation) =>
    operation.raw !== null || (hasBody(operation) && !isIngest(operation)),
  // The ingest API reports faults in path, query and body as validation_failed.
  invalid_parameter: (operation) => !isIngest(operation) || isCreating(operation),
  validation_failed: isIngest,
  invalid_json: ({ body }) => body !== null,
  payload_too_large: hasBody,
  unsupported_media_type: hasBody,
  unauthenticated: needsCredential,
  token_expired: isGatewayWithCredential,
  key_expired: isGatewayWithCredential,
  forbidden_tenant: (operation) => isGateway(operation) && hasTenant(operation),
  forbidden_permission: (operation) => needsCredential(operation) && operation.access !== "caller",
  not_found: (operation) =>
    operation.raw !== null ||
    (!isIngest(operation) && (hasRecordId(operation) || operation.access === "caller")),
  // Only the routes of signed URLs return these three.
  signed_url_refused: () => false,
  length_required: () => false,
  range_not_satisfiable: () => false,
  storage_quota_exceeded: ({ raw }) => raw !== null,
  // Every operation has a supported method.
  method_not_allowed: () => false,
  precondition_failed: canRequireVersion,
  idempotency_in_progress: isCreating,
  idempotency_key_reused: isCreating,
  idempotency_secret_shown_once: ({ returnsSecret }) => returnsSecret !== null,
  rate_limited: isRateLimited,
};

const listCodes = (operation: Operation): Code[] => [
  ...(Object.keys(SHARED_ERRORS) as SharedErrorCode[]).filter(
    (code) => APPLIES_TO[code]?.(operation) ?? true,
  ),
  ...operation.errors,
];

const TEXT = { type: "string" };

/** Error schemas of the services. */
export const errorSchemas: Record<string, JsonSchema> = {
  Fault: {
    type: "object",
    description: "A validation error of one field.",
    properties: {
      field: { ...TEXT, description: "Path of the field, such as `person.email`." },
      code: {
        ...TEXT,
        description:
          "Kind of fault, such as required, empty, type, enum, format, too_long or range.",
      },
      message: TEXT,
    },
    required: ["field", "code", "message"],
  },
  Problem: {
    type: "object",
    description:
      "Error of the gateway (RFC 9457). Codes are stable; titles and details may change.",
    properties: {
      type: { ...TEXT, format: "uri", examples: ["urn:problem:not_found"] },
      title: TEXT,
      status: { type: "integer" },
      detail: TEXT,
      instance: { ...TEXT, description: "Path of the request." },
      code: TEXT,
      requestId: TEXT,
      permission: { ...TEXT, description: "The missing permission." },
      errors: { type: "array", items: { $ref: "#/components/schemas/Fault" } },
    },
    required: ["type", "title", "status", "detail", "instance", "code", "requestId", "errors"],
  },
  ExportProblem: {
    type: "object",
    description: "Error of the export service.",
    properties: {
      error: {
        type: "object",
        properties: { code: TEXT, message: TEXT, requestId: TEXT },
        required: ["code", "message"],
      },
    },
    required: ["error"],
  },
  IngestProblem: {
    type: "object",
    description: "Error of the ingest API. A conflict identifies the existing record.",
    properties: {
      error: TEXT,
      message: TEXT,
      account_number: TEXT,
      document_number: TEXT,
      reference: TEXT,
      errors: { type: "array", items: { $ref: "#/components/schemas/Fault" } },
    },
    required: ["error", "message"],
  },
};

/** Returns a reference to an error schema, narrowed to the values of one status. */
const narrowSchema = (name: string, properties: object): object => ({
  allOf: [{ $ref: `#/components/schemas/${name}` }, { type: "object", properties }],
});

const buildContent = (service: Service, status: number, codes: readonly Code[]): object => {
  if (service === "gateway") {
    const schema = narrowSchema("Problem", { status: { const: status }, code: { enum: codes } });
    return { "application/problem+json": { schema } };
  }
  const schema =
    service === "export"
      ? narrowSchema("ExportProblem", {
          error: { type: "object", properties: { code: { const: EXPORT_CODES[status] } } },
        })
      : narrowSchema("IngestProblem", { error: { enum: codes.map(toIngestCode) } });
  return { "application/json": { schema } };
};

const buildErrorResponse = (service: Service, status: number, codes: readonly Code[]): object => ({
  description: codes.map((code) => `${ERRORS[code].title} (\`${code}\`).`).join("\n"),
  headers: buildHeaderRefs([
    "X-Request-Id",
    ...(status === 401 ? ["WWW-Authenticate" as const] : []),
    ...(status === 429 ? ["Retry-After" as const] : []),
    "RateLimit-Policy",
    "RateLimit",
    ...(codes.includes("idempotency_in_progress") ? ["Retry-After" as const] : []),
  ]),
  content: buildContent(service, status, codes),
});

export type ErrorResponses = {
  /** Returns an operation's error responses by status, as references to the components. */
  of(operation: Operation): Record<string, object>;
  components: Record<string, object>;
};

/** Creates the error responses of all operations; operations with the same codes share a component. */
export const createErrorResponses = (operations: readonly Operation[]): ErrorResponses => {
  const components: Record<string, object> = {};
  const of = (operation: Operation): Record<string, object> => {
    const byStatus = Map.groupBy(listCodes(operation), (code) => ERRORS[code].status);
    const statuses = [...byStatus].toSorted(([a], [b]) => a - b);
    return Object.fromEntries(
      statuses.map(([status, codes]) => {
        const name = [operation.service, status, ...codes].join("-");
        components[name] ??= buildErrorResponse(operation.service, status, codes);
        return [String(status), { $ref: `#/components/responses/${name}` }];
      }),
    );
  };
  for (const operation of operations) of(operation);
  return { of, components };
};
