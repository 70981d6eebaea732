import { codes as currencyCodes } from "currency-codes";
import { iso31661Alpha2ToAlpha3 } from "iso-3166/1-a2-to-1-a3.js";
import languages from "iso-639-1";
import { z } from "zod";
import type { Fault } from "../../../contract/errors.ts";
import { type Checked, toFaults } from "../../../contract/faults.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { isRecord } from "../../../kit/json.ts";

export type Fields = Record<string, unknown>;

/** The kind of write. `update` keeps the fields that are not sent, the others clear them. */
export type Write = "create" | "replace" | "update";

const omitNulls = (value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))
    : value;

/** Objects with a fixed set of fields: null in them means absent. */
const NESTED: Record<string, (value: unknown) => unknown> = {
  billing_address: omitNulls,
  remit_to: omitNulls,
  line_items: (value) => (Array.isArray(value) ? value.map(omitNulls) : value),
};

/** Objects whose keys are free. */
const OPEN = new Set(["custom_fields", "data_providers", "invoicing_detail"]);

/** Merges custom fields by name; null removes one. */
const mergeCustom = (before: unknown, sent: unknown): unknown => {
  if (!isRecord(sent)) return sent;
  const stored = isRecord(before) ? before : {};
  const merged = new Map(Object.entries(stored));
  for (const [name, value] of Object.entries(sent)) {
    if (value === null) merged.delete(name);
    else merged.set(name, name === "collections" ? mergeCustom(merged.get(name), value) : value);
  }
  return Object.fromEntries(merged);
};

const isPlainField = (name: string, value: unknown): boolean =>
  value !== null && name !== "custom_fields" && !Object.hasOwn(NESTED, name);

const isPlain = (sent: Fields): boolean => {
  for (const name of Object.keys(sent)) {
    if (!isPlainField(name, sent[name])) return false;
  }
  return true;
};

/** Returns the record's fields after the write, not validated. */
export const mergeBody = (write: Write, sent: Fields, before: Fields = {}): Fields => {
  if (write !== "update" && isPlain(sent)) return { ...sent };
  const result = new Map(write === "update" ? Object.entries(before) : []);
  for (const [name, value] of Object.entries(sent)) {
    if (value === null) result.delete(name);
    else if (name === "custom_fields") result.set(name, mergeCustom(result.get(name), value));
    else result.set(name, Object.hasOwn(NESTED, name) ? NESTED[name]?.(value) : value);
  }
  return Object.fromEntries(result);
};

// Bounds the cache: further combinations of fields use the whole schema.
const MOST_KEPT = 64;

/**
 * Creates a function that narrows an object schema to the fields of a value and the required ones. The result of
 * parsing is the same and faster. The other fields must be optional and have no default.
 */
export const createNarrowing = <S extends z.ZodObject>(schema: S): ((value: unknown) => S) => {
  const all = new Set(Object.keys(schema.shape));
  const required = new Set(
    [...all].filter((name) => !(schema.shape[name] instanceof z.ZodOptional)),
  );
  const known = new Map<string, S>();
  return (value) => {
    if (!isRecord(value)) return schema;
    const sent = Object.keys(value).filter((name) => all.has(name));
    const key = sent.join("\0");
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= MOST_KEPT) return schema;
    const names = new Set(sent);
    const chosen = [...all].filter((name) => names.has(name) || required.has(name));
    const mask = Object.fromEntries(chosen.map((name) => [name, true as const]));
    const made = schema.pick(mask as never) as unknown as S;
    known.set(key, made);
    return made;
  };
};

const COUNTRIES: ReadonlySet<string> = new Set(Object.keys(iso31661Alpha2ToAlpha3));

const CURRENCIES: ReadonlySet<string> = new Set(currencyCodes());

const KINDS = {
  currency: {
    knows: (code: string) => CURRENCIES.has(code),
    message: "must be a currency of ISO 4217",
  },
  language: {
    knows: (code: string) => languages.validate(code),
    message: "must be a language of ISO 639-1",
  },
  country: {
    knows: (code: string) => COUNTRIES.has(code),
    message: "must be a country of ISO 3166-1 alpha-2",
  },
};

/** Checks a code against the published list of its kind. An absent value has no faults. */
export const checkCode = (kind: keyof typeof KINDS, field: string, value: unknown): Fault[] => {
  const { knows, message } = KINDS[kind];
  return typeof value !== "string" || knows(value) ? [] : [{ field, code: "enum", message }];
};

/** Keeps the first fault of each field. */
const keepFirstFaults = (all: readonly Fault[]): Fault[] =>
  [...new Map(all.toReversed().map((fault) => [fault.field, fault])).values()].toReversed();

/** Validates a value by its schema and by further rules, and returns the faults of both. */
export const checkValue = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  rules: (value: Fields) => Fault[] = () => [],
): Checked<z.output<S>> => {
  const parsed = schema.safeParse(value, { reportInput: true });
  const wrong = parsed.success ? [] : toFaults(parsed.error);
  const beyond = isRecord(value) ? rules(value) : [];
  if (parsed.success && beyond.length === 0) return { value: parsed.data };
  return { faults: keepFirstFaults([...wrong, ...beyond]) };
};

/** Returns the part of a body whose fields are checked for being ignored: without nulls and free-form objects. */
export const toComparable = (sent: Fields): Fields =>
  Object.fromEntries(Object.entries(mergeBody("create", sent)).filter(([name]) => !OPEN.has(name)));

const PLAIN_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Converts timestamps to UTC and keeps plain dates. */
export const toDateText = (sent: string): string =>
  PLAIN_DATE.test(sent) ? sent : formatTimestamp(Date.parse(sent));
