import { z } from "zod";
import { requiredText, text, Timestamp } from "../../contract/fields.ts";
import { IngestDate } from "../../contract/ingest-fields.ts";
import { iso } from "../../kit/clock.ts";

/** What holds of a part beyond the types of its fields. */
export type Rule = (value: never, context: z.RefinementCtx) => void;

export type Wholeness = {
  /** By the part's schema in the contract. */
  rules?: ReadonlyMap<z.ZodType, Rule>;
  /** Schemas that take the place of the contract's own. */
  instead?: ReadonlyMap<z.ZodType, z.ZodType>;
};

const LONGEST_TEXT = 10_000;
const MOST_ITEMS = 10_000;

/** A day or a moment in any zone, as the interface writes it. */
export const Moment = IngestDate.transform((value) => iso(Date.parse(value)));

/** What names a record. */
export const Key = requiredText(128);

const convert = (schema: z.ZodType, wholeness: Wholeness): z.ZodType => {
  const instead = wholeness.instead?.get(schema);
  if (instead !== undefined) return instead;
  if (schema === Timestamp) return Moment;
  if (schema instanceof z.ZodObject) return whole(schema, wholeness);
  if (schema instanceof z.ZodArray) {
    const element = convert(schema.element as z.ZodType, wholeness);
    return schema.clone({ ...schema.def, element }).max(MOST_ITEMS);
  }
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.map((option) => convert(option as z.ZodType, wholeness));
    return z.union(options, { error: "must be text, a number, true or false" });
  }
  return schema instanceof z.ZodString ? text(LONGEST_TEXT) : schema;
};

/** What may be null or empty may be left out, and what is not said to be true is false. */
const property = (schema: z.ZodType, wholeness: Wholeness): z.ZodType => {
  if (schema instanceof z.ZodNullable) {
    const inner = convert(schema.unwrap() as z.ZodType, wholeness);
    return inner.nullable().default(null);
  }
  if (schema instanceof z.ZodOptional) {
    return convert(schema.unwrap() as z.ZodType, wholeness).optional();
  }
  if (schema instanceof z.ZodArray) {
    return convert(schema, wholeness)
      .nullish()
      .transform((items) => items ?? []);
  }
  return schema instanceof z.ZodBoolean ? schema.default(false) : convert(schema, wholeness);
};

/**
 * The contract's schema of an answer as a file's record is held to it: no unknown keys, text that can be kept,
 * moments in any zone. A record that passes has the answer's form.
 */
export const whole = <S extends z.ZodObject>(
  schema: S,
  wholeness: Wholeness,
): z.ZodType<z.output<S>> => {
  const shape = Object.entries(schema.shape).map(([name, field]): [string, z.ZodType] => [
    name,
    property(field as z.ZodType, wholeness),
  ]);
  const strict = z.strictObject(Object.fromEntries(shape));
  const rule = wholeness.rules?.get(schema);
  const ruled = rule === undefined ? strict : strict.superRefine(rule as never);
  return ruled as unknown as z.ZodType<z.output<S>>;
};
