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

/** Converts parts in one call; schemas with a name become components. */
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

const collectParts = (
  operations: readonly Operation[],
  which: readonly Part[],
): Record<string, z.ZodType> =>
  Object.fromEntries(
    operations.flatMap((operation) =>
      which.flatMap((part) => {
        const schema = operation[part];
        // A file's output describes response headers, not a JSON body.
        const none = schema === null || (part === "output" && operation.file);
        return none ? [] : [[toKey(operation, part), schema]];
      }),
    ),
  );

const addComponents = (
  known: Record<string, JsonSchema>,
  more: Record<string, JsonSchema>,
): void => {
  for (const [name, schema] of Object.entries(more)) {
    if (!isDeepStrictEqual(schema, (known[name] ??= schema))) {
      throw new Error(`${name} has different schemas in two places`);
    }
  }
};

const AT_ONCE = 10;

/** Creates the JSON Schemas of all requests and responses; each step takes a few milliseconds. */
export function* createSchemas(): Generator<undefined, Schemas> {
  const names = collectSchemaNames();
  const properties: Record<string, JsonSchema> = {};
  const components: Record<string, JsonSchema> = {};
  for (let from = 0; from < platformOperations.length; from += AT_ONCE) {
    const operations = platformOperations.slice(from, from + AT_ONCE);
    for (const [io, which] of [["input", REQUEST] as const, ["output", ["output"]] as const]) {
      yield;
      const converted = convertToJsonSchema(collectParts(operations, which), io, names);
      Object.assign(properties, converted.properties);
      addComponents(components, converted.$defs);
    }
  }
  const sorted = Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    of: (operation, part) => properties[toKey(operation, part)] ?? {},
    components: Object.fromEntries(sorted),
  };
}
