import { describeName } from "./descriptions.ts";
import type { Operation } from "../operation.ts";
import { isCreating, canRequireVersion } from "./operation-traits.ts";
import { findExample, toExample } from "./examples.ts";
import type { JsonSchema, Schemas } from "./schemas.ts";

type Parameter = { $ref: string } | (object & { name: string; in: "path" | "query" });

/** Optional request headers. */
export const requestHeaders = {
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes retries safe: for 24 hours, a repeated request with the same key returns the first response and creates nothing.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
  "If-Match": {
    name: "If-Match",
    in: "header",
    description:
      "`ETag` of a previous response. The request fails with 412 if the record has changed since.",
    schema: { type: "string" },
  },
  "If-None-Match": {
    name: "If-None-Match",
    in: "header",
    description: "`*`: create only. The request fails with 412 if the record exists.",
    schema: { type: "string" },
  },
};

const buildHeaderRef = (name: keyof typeof requestHeaders): Parameter => ({
  $ref: `#/components/parameters/${name}`,
});

const toParameters = (
  place: "path" | "query",
  whole: JsonSchema,
  operation: Operation,
): Parameter[] =>
  Object.entries(whole.properties ?? {}).map(
    ([name, { description = describeName(name), ...schema }]) => ({
      name,
      in: place,
      ...(description === undefined ? {} : { description }),
      ...(whole.required?.includes(name) === true ? { required: true } : {}),
      ...(operation.additions?.query.includes(name) === true ? { "x-extension": true } : {}),
      // Lists are sent as repeated parameters: Status=0&Status=1.
      ...(schema["type"] === "array" ? { style: "form", explode: true } : {}),
      schema,
      ...toExample(findExample(operation)[place][name]),
    }),
  );

export const buildParameters = (operation: Operation, schemas: Schemas): Parameter[] => [
  ...toParameters("path", schemas.of(operation, "params"), operation),
  ...toParameters("query", schemas.of(operation, "query"), operation),
  ...(isCreating(operation) ? [buildHeaderRef("Idempotency-Key")] : []),
  ...(canRequireVersion(operation) ? [buildHeaderRef("If-Match")] : []),
  ...(canRequireVersion(operation) && operation.upsert ? [buildHeaderRef("If-None-Match")] : []),
];

const buildContent = (operation: Operation, schemas: Schemas): object | undefined => {
  if (operation.raw !== null) return { [operation.raw.type]: { schema: {} } };
  if (operation.body === null) return undefined;
  const { body } = findExample(operation);
  return { "application/json": { schema: schemas.of(operation, "body"), ...toExample(body) } };
};

export const buildRequestBody = (
  operation: Operation,
  schemas: Schemas,
): { requestBody?: object } => {
  const content = buildContent(operation, schemas);
  return content === undefined ? {} : { requestBody: { required: true, content } };
};
