import { z } from "zod";
import { requiredText, text, Timestamp } from "../../contract/fields.ts";
import { IngestDate } from "../../contract/ingest-fields.ts";
import { formatTimestamp } from "../../kit/clock.ts";

/** A rule of an object beyond the types of its fields. */
export type Rule = (value: never, context: z.RefinementCtx) => void;

export type StrictOptions = {
  /** Rules by the object's schema in the contract. */
  rules?: ReadonlyMap<z.ZodType, Rule>;
  /** Replacements of schemas of the contract. */
  instead?: ReadonlyMap<z.ZodType, z.ZodType>;
};

const LONGEST_TEXT = 10_000;
const MOST_ITEMS = 10_000;

/** A day or a timestamp in any zone, converted to the interface's UTC form. */
export const ImportTimestamp = IngestDate.transform((value) => formatTimestamp(Date.parse(value)));

/** A record's key. */
export const Key = requiredText(128);

const convertSchema = (schema: z.ZodType, wholeness: StrictOptions): z.ZodType => {
  const instead = wholeness.instead?.get(schema);
  if (instead !== undefined) return instead;
  if (schema === Timestamp) return ImportTimestamp;
  if (schema instanceof z.ZodObject) return createStrictSchema(schema, wholeness);
  if (schema instanceof z.ZodArray) {
    const element = convertSchema(schema.element as z.ZodType, wholeness);
    return schema.clone({ ...schema.def, element }).max(MOST_ITEMS);
  }
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.map((option) => convertSchema(option as z.ZodType, wholeness));
    return z.union(options, { error: "must be text, a number, true or false" });
  }
  return schema instanceof z.ZodString ? text(LONGEST_TEXT) : schema;
};

/** Fields that can be null or empty may be absent, and an absent boolean is false. */
const convertProperty = (schema: z.ZodType, wholeness: StrictOptions): z.ZodType => {
  if (schema instanceof z.ZodNullable) {
    const inner = convertSchema(schema.unwrap() as z.ZodType, wholeness);
    return inner.nullable().default(null);
  }
  if (schema instanceof z.ZodOptional) {
    return convertSchema(schema.unwrap() as z.ZodType, wholeness).optional();
  }
  if (schema instanceof z.ZodArray) {
    return convertSchema(schema, wholeness)
      .nullish()
      .transform((items) => items ?? []);
  }
  return schema instanceof z.ZodBoolean ? schema.default(false) : convertSchema(schema, wholeness);
};

/**
 * Converts the contract's schema of a response to the schema of an imported record: no unknown keys, bounded text,
 * timestamps in any zone. A record that passes has the response's form.
 */
export const createStrictSchema = <S extends z.ZodObject>(
  schema: S,
  wholeness: StrictOptions,
): z.ZodType<z.output<S>> => {
  const shape = Object.entries(schema.shape).map(([name, field]): [string, z.ZodType] => [
    name,
    convertProperty(field as z.ZodType, wholeness),
  ]);
  const strict = z.strictObject(Object.fromEntries(shape));
  const rule = wholeness.rules?.get(schema);
  const ruled = rule === undefined ? strict : strict.superRefine(rule as never);
  return ruled as unknown as z.ZodType<z.output<S>>;
};
