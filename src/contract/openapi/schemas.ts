import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { platformOperations } from "../index.ts";
import type { Operation } from "../operation.ts";
import { collectSchemaNames } from "./names.ts";

export type JsonSchema = {
  $ref?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  [keyword: string]: unknown;
};

export type Part = "params" | "query" | "body" | "output";

export type Schemas = {
  /** Returns the schema of a part of an operation; named schemas are references to the components. */
  of(operation: Operation, part: Part): JsonSchema;
  components: Record<string, JsonSchema>;
};

const REQUEST = ["params", "query", "body"] as const;
const toKey = (operation: Operation, part: Part): string => `${operation.id} ${part}`;

/** Creates zod metadata that gives named schemas their component id. */
const createMetadata = (names: ReadonlyMap<unknown, string>) =>
  Object.assign(z.registry<Record<string, unknown>>(), {
    get(schema: z.core.$ZodType) {
      const id = names.get(schema);
      return { ...z.globalRegistry.get(schema as z.ZodType), ...(id === undefined ? {} : { id }) };
    },
  });

const isUnsafe = (bound: unknown): boolean =>
  typeof bound === "number" && Math.abs(bound) >= Number.MAX_SAFE_INTEGER;

const createOverride =
  (io: "input" | "output") => (at: { zodSchema: unknown; jsonSchema: JsonSchema }) => {
    const { zodSchema, jsonSchema } = at;
    delete jsonSchema["id"];
    // Responses may gain fields within an API version, so they must not forbid additional properties.
    const open = zodSchema instanceof z.ZodObject && zodSchema.def.catchall === undefined;
    if (io === "output" && open) delete jsonSchema["additionalProperties"];
    for (const name of ["minimum", "maximum"]) {
      if (isUnsafe(jsonSchema[name])) delete jsonSchema[name];
    }
  };

type Converted = { properties: Record<string, JsonSchema>; $defs: Record<string, JsonSchema> };

/** Converts all parts in one call, so that shared schemas become one component. */
const convertToJsonSchema = (
  parts: Record<string, z.ZodType>,
  io: "input" | "output",
  names: ReadonlyMap<unknown, string>,
): Converted => {
  const converted = z.toJSONSchema(z.object(parts), {
    io,
    metadata: createMetadata(names),
    override: createOverride(io) as (at: { zodSchema: unknown; jsonSchema: object }) => void,
  });
  const { properties = {}, $defs = {} } = converted;
  const text = JSON.stringify({ properties, $defs });
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Converted;
};

const collectParts = (which: readonly Part[]): Record<string, z.ZodType> =>
  Object.fromEntries(
    platformOperations.flatMap((operation) =>
      which.flatMap((part) => {
        const schema = operation[part];
        // A file's output describes response headers, not a JSON body.
        const none = schema === null || (part === "output" && operation.file);
        return none ? [] : [[toKey(operation, part), schema]];
      }),
    ),
  );

const mergeComponents = (
  sent: Record<string, JsonSchema>,
  answered: Record<string, JsonSchema>,
): Record<string, JsonSchema> => {
  for (const [name, schema] of Object.entries(sent)) {
    if (isDeepStrictEqual(schema, answered[name] ?? schema)) continue;
    throw new Error(`${name} has different schemas in requests and responses`);
  }
  const all = Object.entries({ ...sent, ...answered });
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** Creates the JSON Schemas of all requests and responses. */
export const createSchemas = (): Schemas => {
  const names = collectSchemaNames();
  const sent = convertToJsonSchema(collectParts(REQUEST), "input", names);
  const answered = convertToJsonSchema(collectParts(["output"]), "output", names);
  const properties = { ...sent.properties, ...answered.properties };
  return {
    of: (operation, part) => properties[toKey(operation, part)] ?? {},
    components: mergeComponents(sent.$defs, answered.$defs),
  };
};
