import { buildCommonHeaders } from "./headers.ts";
import { type Code, ERRORS, EXPORT_CODES, Problem, toIngestCode } from "../../contract/errors.ts";
import type { Service } from "../../contract/operation.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { toOutageProblem } from "../store/outages.ts";
import { StoreUnavailable, ViewExpired } from "../store/port.ts";

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

/** Converts any thrown value. An unexpected error is logged and becomes `internal`, without its message. */
export const toProblem = (error: unknown, log: Log, requestId: string): Problem => {
  if (error instanceof Problem) return error;
  const outage = toOutageProblem(error);
  if (error instanceof StoreUnavailable || error instanceof ViewExpired) {
    log.warn("store.unavailable", { requestId, error: error.message });
  }
  if (outage !== undefined) return outage;
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
