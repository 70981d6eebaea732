import { z } from "zod";
import { sortFields } from "../../../contract/fields.ts";
import { findSpelling } from "../../../kit/spelling.ts";

type Values = Record<string, unknown>;

/** The schema of a value without what makes it optional or nullable. */
const withoutWrapping = (schema: z.ZodType): z.ZodType => {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return withoutWrapping(schema.unwrap() as z.ZodType);
  }
  return schema;
};

/** Returns the function that respells the words of an argument; undefined where it takes any text. */
const respellerOf = (wrapped: z.ZodType): ((text: string) => string) | undefined => {
  const schema = withoutWrapping(wrapped);
  if (schema instanceof z.ZodEnum) {
    const words = schema.options.filter((word) => typeof word === "string");
    return (text) => findSpelling(text, words);
  }
  const fields = sortFields.get(schema)?.fields;
  if (fields === undefined) return undefined;
  const known = fields.flatMap((field) => [field, `-${field}`]);
  return (text) =>
    text
      .split(",")
      .map((term) => findSpelling(term.trim(), known))
      .join(",");
};

/** No word or sort is longer. */
const MAX_LENGTH = 1000;

/**
 * Returns arguments with the documented spellings of words that an operation's schema lists and a tool's schema does
 * not, because a platform may know further ones.
 */
export const respellWords = (values: Values, shape: Readonly<Record<string, z.ZodType>>): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (typeof value !== "string" || value.length > MAX_LENGTH) return [name, value];
      if (schema === undefined) return [name, value];
      return [name, respellerOf(schema)?.(value) ?? value];
    }),
  );
