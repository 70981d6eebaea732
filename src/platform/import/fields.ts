import { z } from "zod";
import { parseJson } from "../../kit/json.ts";

type Kind = "number" | "boolean" | "text" | "either" | "other";

/** The kind of value of each field of a target; names of nested fields have dots. */
export type Fields = ReadonlyMap<string, Kind>;

/** Removes the optional, nullable and pipe wrappers of a schema. */
const unwrapSchema = (schema: z.ZodType): z.ZodType => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return unwrapSchema(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodPipe) {
    const part = schema.in instanceof z.ZodTransform ? schema.out : schema.in;
    return unwrapSchema(part as z.ZodType);
  }
  return schema;
};

const detectKind = (schema: z.ZodType): Kind => {
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodLiteral) {
    const types = new Set([...schema.values].map((value) => typeof value));
    if (types.size > 1) return "either";
    return types.has("number") ? "number" : "text";
  }
  if (schema instanceof z.ZodBoolean) return "boolean";
  return schema instanceof z.ZodString || schema instanceof z.ZodEnum ? "text" : "other";
};

const listFields = (schema: z.ZodObject, before: string): [string, Kind][] =>
  Object.entries(schema.shape).flatMap(([key, field]): [string, Kind][] => {
    const core = unwrapSchema(field as z.ZodType);
    const name = `${before}${key}`;
    return core instanceof z.ZodObject ? listFields(core, `${name}.`) : [[name, detectKind(core)]];
  });

export const collectFields = (schema: z.ZodObject): Fields => new Map(listFields(schema, ""));

// Every decimal of 15 digits survives a double.
const EXACT_DIGITS = 15;

// No grouping, and no exponent: spreadsheets write an exponent when they have lost digits.
const LEADING_ZEROS = /^(-?)0+(?=\d)/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Parses a cell that contains a JSON array or object. */
const parseJsonCell = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

/** Converts a text cell to the field's kind. Text that does not fit stays text, so that the schema refuses it. */
export const parseCell = (kind: Kind, text: string): unknown => {
  const trimmed = text.trim();
  if (kind === "number" || kind === "either") {
    if (!NUMBER.test(trimmed)) return text;
    const source = trimmed.replace(LEADING_ZEROS, "$1");
    return source.length <= EXACT_DIGITS ? Number(source) : parseJson(source);
  }
  if (kind === "boolean" && /^(true|false)$/i.test(trimmed)) {
    return trimmed.toLowerCase() === "true";
  }
  if (kind === "other" && /^[{[]/.test(trimmed)) return parseJsonCell(trimmed) ?? text;
  return text;
};
