import { z } from "zod";
import { type Code, type Fault, isCode, Problem, type ProblemDetails } from "../contract/errors.ts";
import { parseIfJson } from "../kit/json.ts";
import type { Operation } from "../contract/operation.ts";
import type { WireReply } from "./port.ts";
import { parseRetryAfter } from "./retry-after.ts";

const MAX_SENTENCE = 500;
const MAX_FAULTS = 50;

/** Text of the platform's own, made safe to repeat: one line, bounded. */
const toLine = (text: string, max = MAX_SENTENCE): string =>
  text
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, max);

const GatewayFault = z.object({ field: z.string(), code: z.string(), message: z.string() });

// Every part may be missing or malformed: a malformed error response must not become an internal error.
const GatewayProblem = z.object({
  code: z.string(),
  detail: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  requestId: z.string().optional().catch(undefined),
  errors: z.array(GatewayFault).optional().catch(undefined),
});

const ExportProblem = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().optional().catch(undefined),
    requestId: z.string().optional().catch(undefined),
  }),
});

const IngestProblem = z.object({
  error: z.string(),
  message: z.string().optional().catch(undefined),
  errors: z.array(GatewayFault).optional().catch(undefined),
});

/** The ingest API's words that are not the code itself. */
const INGEST_CODES: ReadonlyMap<string, Code> = new Map([
  ["unauthorized", "unauthenticated"],
  ["forbidden", "forbidden_permission"],
]);

const EXPORT_CODES: ReadonlyMap<string, Code> = new Map([
  ["BAD_REQUEST", "invalid_request"],
  ["UNAUTHORIZED", "unauthenticated"],
  ["FORBIDDEN", "forbidden_permission"],
  ["NOT_FOUND", "not_found"],
  ["METHOD_NOT_ALLOWED", "method_not_allowed"],
  ["CONFLICT", "conflict"],
  ["GONE", "gone"],
  ["IDEMPOTENCY_KEY_REUSED", "idempotency_key_reused"],
  ["PAYLOAD_TOO_LARGE", "payload_too_large"],
  ["UNSUPPORTED_MEDIA_TYPE", "unsupported_media_type"],
  ["RATE_LIMITED", "rate_limited"],
  ["INTERNAL", "internal"],
  ["UNAVAILABLE", "unavailable"],
]);

const BY_STATUS: Record<number, Code> = {
  400: "invalid_request",
  401: "unauthenticated",
  403: "forbidden_permission",
  404: "not_found",
  405: "method_not_allowed",
  408: "unavailable",
  409: "conflict",
  410: "gone",
  412: "precondition_failed",
  413: "payload_too_large",
  415: "unsupported_media_type",
  422: "invalid_request",
  429: "rate_limited",
  500: "internal",
  501: "method_not_allowed",
};

const toCode = (status: number): Code =>
  BY_STATUS[status] ?? (status >= 400 && status < 500 ? "invalid_request" : "unavailable");

// Proxies answer with pages of their own. Only these statuses of such a page are believed: a 404, for example, means a
// wrong address rather than a missing record.
const PROXY_STATUSES = [401, 413, 429];

type ParsedRefusal = { code: Code; message: string; requestId?: string; errors?: Fault[] };

const toFaults = (list: readonly Fault[] = []): { errors?: Fault[] } =>
  list.length === 0
    ? {}
    : {
        errors: list.slice(0, MAX_FAULTS).map((fault) => ({
          field: toLine(fault.field, 200),
          code: toLine(fault.code, 64),
          message: toLine(fault.message),
        })),
      };

const parseGatewayProblem = (status: number, body: unknown): ParsedRefusal | undefined => {
  const { success, data } = GatewayProblem.safeParse(body);
  if (!success) return undefined;
  return {
    code: isCode(data.code) ? data.code : toCode(status),
    message: toLine(data.detail ?? data.title ?? ""),
    ...(data.requestId === undefined ? {} : { requestId: data.requestId }),
    ...toFaults(data.errors),
  };
};

const parseIngestProblem = (status: number, body: unknown): ParsedRefusal | undefined => {
  const { success, data } = IngestProblem.safeParse(body);
  if (!success) return undefined;
  const code = INGEST_CODES.get(data.error) ?? data.error;
  return {
    code: isCode(code) ? code : toCode(status),
    message: toLine(data.message ?? ""),
    ...toFaults(data.errors),
  };
};

const parseExportProblem = (status: number, body: unknown): ParsedRefusal | undefined => {
  const { success, data } = ExportProblem.safeParse(body);
  if (!success) return undefined;
  const { code, message, requestId } = data.error;
  return {
    code: EXPORT_CODES.get(code) ?? toCode(status),
    message: toLine(message ?? ""),
    ...(requestId === undefined ? {} : { requestId }),
  };
};

/** The body as values, or undefined where it is not the JSON it should be. */
const parseJsonBody = (reply: WireReply): unknown =>
  isJson(reply) ? parseIfJson(reply.body) : undefined;

export const isJson = (reply: WireReply): boolean =>
  /^application\/([\w.-]+\+)?json\b/i.test(reply.headers["content-type"] ?? "");

const isRedirect = ({ status }: WireReply): boolean => status >= 300 && status <= 399;

const REDIRECT: ParsedRefusal = {
  code: "unavailable",
  message: "The platform's address answers with a redirect, which no credential follows.",
};

const parseRefusal = (reply: WireReply): ParsedRefusal => {
  if (isRedirect(reply)) return REDIRECT;
  const body = parseJsonBody(reply);
  const known =
    parseGatewayProblem(reply.status, body) ??
    parseExportProblem(reply.status, body) ??
    parseIngestProblem(reply.status, body);
  if (known !== undefined) return known;
  const trusted = body !== undefined || reply.body === "" || PROXY_STATUSES.includes(reply.status);
  return { code: trusted ? toCode(reply.status) : "unavailable", message: "" };
};

export const parseRequestId = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w-]{1,128}$/.test(text) ? text : undefined;

const toPermissionDetails = (operation: Operation): ProblemDetails =>
  /[ :]/.test(operation.access) ? { permission: operation.access } : {};

export const isChanging = ({ effect }: Operation): boolean =>
  effect === "create" || effect === "change";

// A gateway status means that the request may have been forwarded.
const isUncertain = (operation: Operation, { status }: WireReply): boolean =>
  isChanging(operation) && [500, 502, 504].includes(status);

/**
 * Converts an error response of any of the platform's formats. Text of other formats is not repeated, because it can be
 * anything.
 */
export const toReplyProblem = (operation: Operation, reply: WireReply, now: number): Problem => {
  const { code, message, requestId: bodyId, errors } = parseRefusal(reply);
  const requestId = parseRequestId(bodyId) ?? parseRequestId(reply.headers["x-request-id"]);
  const wait = parseRetryAfter(reply, now);
  return new Problem(
    code,
    message === "" ? `The platform answered with status ${reply.status}.` : message,
    {
      ...(errors === undefined ? {} : { errors }),
      ...(requestId === undefined ? {} : { requestId }),
      ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
      ...(code === "forbidden_permission" ? toPermissionDetails(operation) : {}),
      ...(isUncertain(operation, reply) ? { uncertain: true } : {}),
      ...(isRedirect(reply) ? { misconfigured: true } : {}),
    },
  );
};
