import { buildCommonHeaders } from "./headers.ts";
import { type Code, ERRORS, EXPORT_CODES, Problem, toIngestCode } from "../../contract/errors.ts";
import type { Service } from "../../contract/operation.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { StoreUnavailable, TenantPaused, TooManyReads } from "../store/port.ts";

const buildGatewayBody = (problem: Problem, requestId: string, instance: string) => ({
  type: `urn:problem:${problem.code}`,
  title: ERRORS[problem.code].title,
  status: problem.status,
  detail: problem.message,
  instance,
  code: problem.code,
  requestId,
  ...(problem.details.permission === undefined ? {} : { permission: problem.details.permission }),
  errors: problem.details.errors ?? [],
});

const buildExportBody = (problem: Problem, requestId: string) => ({
  error: {
    code: EXPORT_CODES[problem.status] ?? "INTERNAL",
    message: problem.message,
    requestId,
  },
});

const buildIngestBody = ({ code, message, details }: Problem) => ({
  error: toIngestCode(code),
  ...details.record,
  message,
  ...(code === "validation_failed" || details.errors !== undefined
    ? { errors: details.errors ?? [] }
    : {}),
});

const buildBody = (
  problem: Problem,
  service: Service,
  { requestId, path }: { requestId: string; path: string },
): object => {
  if (service === "gateway") return buildGatewayBody(problem, requestId, path);
  return service === "export" ? buildExportBody(problem, requestId) : buildIngestBody(problem);
};

const CHALLENGED: ReadonlySet<Code> = new Set<Code>([
  "unauthenticated",
  "token_expired",
  "key_expired",
  "invalid_credentials",
]);

const buildHeaders = (problem: Problem): Record<string, string> => ({
  ...problem.details.headers,
  ...(CHALLENGED.has(problem.code) ? { "WWW-Authenticate": 'ApiKey realm="platform"' } : {}),
  ...(problem.details.retryAfterSeconds === undefined
    ? {}
    : { "Retry-After": String(problem.details.retryAfterSeconds) }),
});

const RETRY_AFTER_READS = 5;
/** A short pause passes while clients that repeat requests themselves still do. */
const RETRY_AFTER_PAUSE = 2;

/** Converts any thrown value. An unexpected error is logged and becomes `internal`, without its message. */
export const toProblem = (error: unknown, log: Log, requestId: string): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) {
    log.warn("store.unavailable", { requestId, error: error.message });
    const details = { retryAfterSeconds: 1 };
    return new Problem("unavailable", "The service cannot use its store now.", details, error);
  }
  if (error instanceof TenantPaused) {
    const message = `${error.message} Send the request again in a moment.`;
    return new Problem("unavailable", message, { retryAfterSeconds: RETRY_AFTER_PAUSE }, error);
  }
  if (error instanceof TooManyReads) {
    const message = "Too many long reads of this tenant are under way. Wait until one has ended.";
    return new Problem("rate_limited", message, { retryAfterSeconds: RETRY_AFTER_READS }, error);
  }
  log.error("request.failed", { requestId, ...toErrorFields(error) });
  return new Problem("internal", "Something went wrong in the service. Try again later.");
};

/** Builds the error response in the format of the service; `done` gets the size of its body. */
export const buildProblemResponse = (
  problem: Problem,
  service: Service,
  context: { requestId: string; path: string },
  done?: (bytes: number) => void,
): Response => {
  const text = JSON.stringify(buildBody(problem, service, context));
  done?.(Buffer.byteLength(text));
  return new Response(text, {
    status: problem.status,
    headers: {
      ...buildCommonHeaders(context.requestId),
      "Content-Type": service === "gateway" ? "application/problem+json" : "application/json",
      ...buildHeaders(problem),
    },
  });
};
