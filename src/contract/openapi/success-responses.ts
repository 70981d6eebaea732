import type { Operation } from "../operation.ts";
import { findRecordPath } from "../record-paths.ts";
import {
  hasVersionInAnswer,
  hasTotalCount,
  isCreating,
  isExport,
  isCacheable,
  isRateLimited,
  isPaged,
} from "./operation-traits.ts";
import { findExample, toExample } from "./examples.ts";
import { buildHeaderRefs, type HeaderName } from "./headers.ts";
import type { Schemas } from "./schemas.ts";

const STATUS_DESCRIPTIONS = {
  200: "Success.",
  201: "Created.",
  204: "Success, without a response body.",
  304: "Not modified (ETag matches).",
};

const listHeaders = (operation: Operation, status: number): HeaderName[] => [
  "X-Request-Id",
  ...(status === 201 && findRecordPath(operation) !== undefined ? (["Location"] as const) : []),
  ...(hasVersionInAnswer(operation) || isCacheable(operation) ? (["ETag"] as const) : []),
  ...(hasTotalCount(operation) ? (["X-Total-Count"] as const) : []),
  ...(isPaged(operation) ? (["Link"] as const) : []),
  ...(operation.body !== null && !isExport(operation) ? (["X-Ignored-Fields"] as const) : []),
  ...(operation.file ? (["Content-Disposition", "Content-Length"] as const) : []),
  ...(isCreating(operation) && operation.returnsSecret === null
    ? (["Idempotency-Replayed"] as const)
    : []),
  ...(isRateLimited(operation) ? (["RateLimit-Policy", "RateLimit"] as const) : []),
];

const buildContent = (operation: Operation, schemas: Schemas): { content?: object } => {
  if (operation.output === null) return {};
  if (operation.file) return { content: { "application/pdf": { schema: {} } } };
  const { response } = findExample(operation);
  const schema = schemas.of(operation, "output");
  return { content: { "application/json": { schema, ...toExample(response) } } };
};

const listStatuses = (operation: Operation): (keyof typeof STATUS_DESCRIPTIONS)[] => [
  operation.status,
  ...(operation.upsert ? [201 as const] : []),
  ...(isCacheable(operation) ? [304 as const] : []),
];

/** Returns the successful responses of an operation by status. */
export const buildSuccessResponses = (
  operation: Operation,
  schemas: Schemas,
): Record<string, object> =>
  Object.fromEntries(
    listStatuses(operation).map((status) => [
      status,
      {
        description: STATUS_DESCRIPTIONS[status],
        headers: buildHeaderRefs(listHeaders(operation, status)),
        ...(status === 304 ? {} : buildContent(operation, schemas)),
      },
    ]),
  );
