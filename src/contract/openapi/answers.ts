import type { Operation } from "../operation.ts";
import {
  answersVersion,
  isCounted,
  isCreating,
  isExport,
  isKept,
  isLimited,
  isPaged,
} from "./facts.ts";
import { headerRefs, type HeaderName } from "./headers.ts";
import type { Schemas } from "./schemas.ts";

const WORDS = {
  200: "Done.",
  201: "Made.",
  204: "Done; there is no body.",
  304: "The one that was answered before, by its ETag.",
};

const headersOf = (operation: Operation): HeaderName[] => [
  "X-Request-Id",
  ...(answersVersion(operation) || isKept(operation) ? (["ETag"] as const) : []),
  ...(isCounted(operation) ? (["X-Total-Count"] as const) : []),
  ...(isPaged(operation) ? (["Link"] as const) : []),
  ...(operation.body !== null && !isExport(operation) ? (["X-Ignored-Fields"] as const) : []),
  ...(operation.file ? (["Content-Disposition", "Content-Length"] as const) : []),
  ...(isCreating(operation) && operation.returnsSecret === null
    ? (["Idempotency-Replayed"] as const)
    : []),
  ...(isLimited(operation) ? (["RateLimit-Policy", "RateLimit"] as const) : []),
];

const contentOf = (operation: Operation, schemas: Schemas): { content?: object } => {
  if (operation.output === null) return {};
  if (operation.file) return { content: { "application/pdf": { schema: {} } } };
  return { content: { "application/json": { schema: schemas.of(operation, "output") } } };
};

const statusesOf = (operation: Operation): (keyof typeof WORDS)[] => [
  operation.status,
  ...(operation.upsert ? [201 as const] : []),
  ...(isKept(operation) ? [304 as const] : []),
];

/** The answers of an operation that does what was asked. */
export const answersOf = (operation: Operation, schemas: Schemas): Record<string, object> =>
  Object.fromEntries(
    statusesOf(operation).map((status) => [
      status,
      {
        description: WORDS[status],
        headers: headerRefs(headersOf(operation)),
        ...(status === 304 ? {} : contentOf(operation, schemas)),
      },
    ]),
  );
