import type { z } from "zod";
import type { Fault } from "../../../contract/errors.ts";
import { toFaults } from "../../../contract/faults.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { isRecord } from "../../../kit/json.ts";

export type Fields = Record<string, unknown>;

/** The kind of write. `update` keeps the fields that are not sent, the others clear them. */
export type Write = "create" | "replace" | "update";

/** A validated body: its value or its faults. */
export type Checked<T> = { value: T; faults?: never } | { value?: never; faults: Fault[] };

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
  const kept = isRecord(before) ? before : {};
  const merged = new Map(Object.entries(kept));
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
