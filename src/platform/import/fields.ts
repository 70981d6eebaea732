import { z } from "zod";
import { parseJson } from "../../kit/json.ts";

type Kind = "number" | "boolean" | "text" | "either" | "other";

/** A target's fields by their names, nested ones with dots, and what kind of value each takes. */
export type Fields = ReadonlyMap<string, Kind>;

/** What a field holds beneath its wrappers. */
const inner = (schema: z.ZodType): z.ZodType => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return inner(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodPipe) {
    const part = schema.in instanceof z.ZodTransform ? schema.out : schema.in;
    return inner(part as z.ZodType);
  }
  return schema;
};

const kindOf = (schema: z.ZodType): Kind => {
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodLiteral) {
    const types = new Set([...schema.values].map((value) => typeof value));
    if (types.size > 1) return "either";
    return types.has("number") ? "number" : "text";
  }
  if (schema instanceof z.ZodBoolean) return "boolean";
  return schema instanceof z.ZodString || schema instanceof z.ZodEnum ? "text" : "other";
};

const entriesOf = (schema: z.ZodObject, before: string): [string, Kind][] =>
  Object.entries(schema.shape).flatMap(([key, field]): [string, Kind][] => {
    const core = inner(field as z.ZodType);
    const name = `${before}${key}`;
    return core instanceof z.ZodObject ? entriesOf(core, `${name}.`) : [[name, kindOf(core)]];
  });

export const fieldsOf = (schema: z.ZodObject): Fields => new Map(entriesOf(schema, ""));

// No more than a double keeps, whatever they are.
const EXACT_DIGITS = 15;

// A decimal point, no grouping and no exponent: a spreadsheet writes one where it has lost digits.
const LEADING_ZEROS = /^(-?)0+(?=\d)/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** What a cell that holds a list or an object of JSON says. */
const jsonOf = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

/** Text to what the field takes; text that is no such thing stays text, for the schema to refuse. */
export const fromText = (kind: Kind, text: string): unknown => {
  const trimmed = text.trim();
  if (kind === "number" || kind === "either") {
    if (!NUMBER.test(trimmed)) return text;
    const source = trimmed.replace(LEADING_ZEROS, "$1");
    return source.length <= EXACT_DIGITS ? Number(source) : parseJson(source);
  }
  if (kind === "boolean" && /^(true|false)$/i.test(trimmed)) {
    return trimmed.toLowerCase() === "true";
  }
  if (kind === "other" && /^[{[]/.test(trimmed)) return jsonOf(trimmed) ?? text;
  return text;
};
