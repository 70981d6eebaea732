import { z } from "zod";
import { parseJson } from "../../kit/parse-json.ts";
import { toExactNumber } from "./numbers.ts";

type Kind = "number" | "boolean" | "text" | "either" | "other";

/** A field of a target as an import file fills it. */
export type FieldSpec = {
  kind: Kind;
  /** The meaning of the field in its record: its key, its amount, a day, or the code of its currency. */
  role?: "key" | "amount" | "day" | "currency";
  /** The name of a group of fields of which a row needs one; the field's own name if it is required itself. */
  required?: string;
  /** The field with the currency of this amount. */
  currency?: string;
  /** The mark of amounts below zero: debits in a bank's book, credits in a ledger of customers. */
  negativeMark?: "DR" | "CR";
};

/** The fields of a target; names of nested fields have dots. */
export type Fields = ReadonlyMap<string, FieldSpec>;

/** The meaning of fields that their schema does not have. */
export type Roles = Readonly<Record<string, Omit<FieldSpec, "kind">>>;

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

const isOptional = (schema: z.ZodType): boolean => schema.safeParse(undefined).success;

/** Lists the fields of a schema; those of a nested object are never required by themselves. */
const listFields = (schema: z.ZodObject, before = ""): [string, FieldSpec][] =>
  Object.entries(schema.shape).flatMap(([key, field]): [string, FieldSpec][] => {
    const core = unwrapSchema(field as z.ZodType);
    const name = `${before}${key}`;
    if (core instanceof z.ZodObject) return listFields(core, `${name}.`);
    return [[name, { kind: detectKind(core) }]];
  });

/** Returns the fields of a schema with their meaning. With `roles`, fields that are not optional are required. */
export const collectFields = (schema: z.ZodObject, roles?: Roles): Fields => {
  const listed = listFields(schema);
  if (roles === undefined) return new Map(listed);
  return new Map(
    listed.map(([name, spec]) => {
      const field = schema.shape[name] as z.ZodType | undefined;
      const required = field === undefined || isOptional(field) ? {} : { required: name };
      return [name, { ...spec, ...required, ...roles[name] }];
    }),
  );
};

// No grouping, and no exponent: spreadsheets write an exponent when they have lost digits.
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Parses a cell that contains a JSON array or object. */
const parseJsonCell = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

/** Converts a trimmed text cell to the field's kind. Text that does not fit stays text, so that the schema refuses it. */
export const parseCell = (kind: Kind, text: string): unknown => {
  if (kind === "text") return text;
  if (kind === "number" || kind === "either") {
    return NUMBER.test(text) ? toExactNumber(text) : text;
  }
  if (kind === "boolean" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (kind === "other" && /^[{[]/.test(text)) return parseJsonCell(text) ?? text;
  return text;
};
