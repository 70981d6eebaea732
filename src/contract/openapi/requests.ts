import type { Operation } from "../operation.ts";
import { isCreating, takesVersion } from "./facts.ts";
import type { JsonSchema, Schemas } from "./schemas.ts";

type Parameter = { $ref: string } | (object & { name: string; in: "path" | "query" });

/** Headers that a request may bear beside its credential. */
export const requestHeaders = {
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes a repeat safe: for 24 hours the same request with the same key is answered as the first time and makes nothing.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
  "If-Match": {
    name: "If-Match",
    in: "header",
    description: "An `ETag` that was read: the change is refused if the record has changed since.",
    schema: { type: "string" },
  },
  "If-None-Match": {
    name: "If-None-Match",
    in: "header",
    description: "`*`: the record is made, and nothing happens if there is one already.",
    schema: { type: "string" },
  },
};

const headerRef = (name: keyof typeof requestHeaders): Parameter => ({
  $ref: `#/components/parameters/${name}`,
});

const parameters = (place: "path" | "query", whole: JsonSchema): Parameter[] =>
  Object.entries(whole.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    ...(whole.required?.includes(name) === true ? { required: true } : {}),
    // A list is sent by repeating its name.
    ...(schema["type"] === "array" ? { style: "form", explode: true } : {}),
    schema,
  }));

export const parametersOf = (operation: Operation, schemas: Schemas): Parameter[] => [
  ...parameters("path", schemas.of(operation, "params")),
  ...parameters("query", schemas.of(operation, "query")),
  ...(isCreating(operation) ? [headerRef("Idempotency-Key")] : []),
  ...(takesVersion(operation) ? [headerRef("If-Match")] : []),
  ...(takesVersion(operation) && operation.upsert ? [headerRef("If-None-Match")] : []),
];

const contentOf = (operation: Operation, schemas: Schemas): object | undefined => {
  if (operation.raw !== null) return { [operation.raw.type]: { schema: {} } };
  if (operation.body === null) return undefined;
  return { "application/json": { schema: schemas.of(operation, "body") } };
};

export const bodyOf = (operation: Operation, schemas: Schemas): { requestBody?: object } => {
  const content = contentOf(operation, schemas);
  return content === undefined ? {} : { requestBody: { required: true, content } };
};
