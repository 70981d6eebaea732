import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Operator } from "./operators.ts";

/** A field as a platform publishes it; another platform may know further types and operators. */
const PublishedField = z.looseObject({
  type: z.string(),
  format: z.string().optional(),
  nullable: z.boolean(),
  core: z.boolean(),
  filterable: z.boolean(),
  indexed: z.boolean().optional(),
  operators: z.array(z.string()),
});
type PublishedField = z.infer<typeof PublishedField>;

const PublishedSchema = z.looseObject({
  sources: z.array(z.looseObject({ fields: z.array(PublishedField) })),
});

const FieldKind = z.object({ format: z.string().optional(), operators: z.array(z.string()) });
type Kind = z.infer<typeof FieldKind>;

/** The fields that only the short form has. */
export const briefFields = z.object({
  notes: z.array(z.string()),
  types: z.record(z.string(), FieldKind),
});

const NOTE =
  "types has the operators of each type of field. A field is core where it says so; one with nullable false takes no isNull.";

const NULL_TEST: Operator = "isNull";

const toKind = ({ format, operators, nullable }: PublishedField): Kind => ({
  ...(format === undefined ? {} : { format }),
  operators: nullable ? operators : [...operators, NULL_TEST],
});

const shortenField = (field: PublishedField, common: Kind | undefined) => {
  const { nullable, core, filterable, indexed: _indexed, format, operators, ...rest } = field;
  const isCommon = isDeepStrictEqual(toKind(field), common);
  return {
    ...rest,
    ...(core ? { core } : {}),
    ...(nullable ? {} : { nullable }),
    ...(filterable ? {} : { filterable }),
    ...(isCommon ? {} : { ...(format === undefined ? {} : { format }), operators }),
  };
};

/**
 * Shortens the payment schema to less than half: `types` has format and operators once for each type of field, and
 * fields lack what they share with their type or most others.
 */
export const shortenSchema = (schema: Record<string, unknown>): Record<string, unknown> => {
  const { data } = PublishedSchema.safeParse(schema);
  if (data === undefined) return schema;
  const { sources, ...rest } = data;
  const kinds = new Map<string, Kind>();
  for (const field of sources.flatMap(({ fields }) => fields)) {
    if (!kinds.has(field.type)) kinds.set(field.type, toKind(field));
  }
  return {
    ...rest,
    notes: [NOTE],
    types: Object.fromEntries(kinds),
    sources: sources.map((source) => ({
      ...source,
      fields: source.fields.map((field) => shortenField(field, kinds.get(field.type))),
    })),
  };
};
