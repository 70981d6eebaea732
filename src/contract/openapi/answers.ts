import { isList, type Operation } from "../operation.ts";
import { answersVersion, isCreating, isGateway, isLimited, isPaged } from "./facts.ts";
import { headerRefs, type HeaderName } from "./headers.ts";
import type { Schemas } from "./schemas.ts";

const WORDS = { 200: "Done.", 201: "Made.", 204: "Done; there is no body." };

const headersOf = (operation: Operation): HeaderName[] => [
  "X-Request-Id",
  ...(answersVersion(operation) ? (["ETag"] as const) : []),
  ...(isList(operation) ? (["X-Total-Count"] as const) : []),
  ...(isPaged(operation) ? (["Link"] as const) : []),
  ...(operation.body !== null && isGateway(operation) ? (["X-Ignored-Fields"] as const) : []),
  ...(isCreating(operation) && !operation.secret ? (["Idempotency-Replayed"] as const) : []),
  ...(isLimited(operation) ? (["RateLimit-Policy", "RateLimit"] as const) : []),
];

/** The answer of an operation that does what was asked. */
export const answerOf = (operation: Operation, schemas: Schemas): Record<string, object> => ({
  [operation.status]: {
    description: WORDS[operation.status],
    headers: headerRefs(headersOf(operation)),
    ...(operation.output === null
      ? {}
      : { content: { "application/json": { schema: schemas.of(operation, "output") } } }),
  },
});
