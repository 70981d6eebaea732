import { z } from "zod";
import { isWritable } from "../kit/clock.ts";
import { InexactNumber } from "../kit/json.ts";
import { Amount, RecordNumber, requiredText, text } from "./fields.ts";

/** An account's, a document's or a note's own name: external, free form, in paths. */
export const IngestNumber = RecordNumber.refine((value) => !/\p{Cc}/u.test(value), {
  error: "must have no control characters",
  params: { code: "format" },
});

export const CurrencyCode = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be an ISO 4217 code such as USD")
  .meta({ description: "ISO 4217" });

export const LanguageCode = z
  .string()
  .regex(/^[a-z]{2}$/, "must be an ISO 639-1 code such as en")
  .meta({ description: "ISO 639-1" });

export const CountryCode = z
  .string()
  .regex(/^[A-Z]{2}$/, "must be an ISO 3166-1 alpha-2 code such as US")
  .meta({ description: "ISO 3166-1 alpha-2" });

// The patterns alone: a schema inside a schema costs more than what it finds.
const DAY = z.regexes.date;
const DATE_TIME = z.regexes.datetime({ offset: true });

const isDateTime = (value: string): boolean =>
  DATE_TIME.test(value) && isWritable(Date.parse(value));

/** A calendar date or a moment with its zone. */
export const IngestDate = z
  .string()
  .refine((value) => DAY.test(value) || isDateTime(value), {
    error: "must be a calendar date such as 2026-01-31, or a date-time with its zone",
    params: { code: "format" },
  })
  .meta({ description: "ISO 8601", examples: ["2026-01-31"] });

const MAX_DECIMALS = 4;

// A number's own text is its shortest decimal, which for at most 15 digits is the one that was sent.
const countDecimals = (value: number): number => {
  const [digits = "", exponent = "0"] = String(value).split("e");
  const [, fraction = ""] = digits.split(".");
  return Math.max(0, fraction.length - Number(exponent));
};

const SCALE = 10 ** MAX_DECIMALS;
const MAX_SCALED = 1e15;

// The text settles what arithmetic cannot, at many times its cost.
const hasFewDecimals = (value: number): boolean => {
  const scaled = Math.round(value * SCALE);
  const isExact = Math.abs(scaled) < MAX_SCALED && scaled / SCALE === value;
  return isExact || countDecimals(value) <= MAX_DECIMALS;
};

/** Money of a document or account: exact, at most 4 decimals. */
export const IngestAmount = Amount.refine(hasFewDecimals, {
  error: `may have ${MAX_DECIMALS} decimals`,
  params: { code: "format" },
});

export const Address = z.object({
  address1: text(200).optional(),
  address2: text(200).optional(),
  city: text(200).optional(),
  state: text(200).optional(),
  zip: text(200).optional(),
  country: CountryCode.optional(),
});
export type Address = z.infer<typeof Address>;

type Issue = { path: PropertyKey[]; code: string; message: string };

const MALFORMED_TEXT = { code: "format", message: "must be well-formed Unicode without U+0000" };
const isText = (value: string): boolean => value.isWellFormed() && !value.includes("\0");
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof InexactNumber);

/** What cannot be kept of a value of any shape. */
const findUnstorable = (value: unknown, path: PropertyKey[] = []): Issue[] => {
  if (value instanceof InexactNumber) {
    return [{ path, code: "type", message: "must be a number of at most 15 digits" }];
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return [{ path, code: "type", message: "must be a finite number" }];
  }
  if (typeof value === "string") return isText(value) ? [] : [{ path, ...MALFORMED_TEXT }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    return isText(key) ? findUnstorable(item, at) : [{ path: at, ...MALFORMED_TEXT }];
  });
};

const TYPE_CHECKS = {
  text: (value: unknown) => typeof value === "string",
  number: (value: unknown) => typeof value === "number",
  boolean: (value: unknown) => typeof value === "boolean",
  date: (value: unknown) => IngestDate.safeParse(value).success,
};

const isPlainValue = (value: unknown): boolean =>
  value === null || ["string", "number", "boolean"].includes(typeof value);

const checkCustomField = (value: unknown, path: PropertyKey[]): Issue[] => {
  if (isPlainValue(value)) return [];
  const createIssue = (at: PropertyKey[], code: string, message: string): Issue[] => [
    { path: at, code, message },
  ];
  if (!isObject(value))
    return createIssue(path, "type", "must be a value, or an object of type and value");
  const { type } = value;
  const fits = Object.entries(TYPE_CHECKS).find(([name]) => name === type)?.[1];
  if (fits === undefined) {
    return createIssue(
      [...path, "type"],
      type === undefined ? "required" : "enum",
      "must be text, number, date or boolean",
    );
  }
  return fits(value["value"])
    ? []
    : createIssue([...path, "value"], "type", `must be of type ${String(type)}`);
};

const checkCustomFields = (fields: Record<string, unknown>): Issue[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    name === "collections" && isObject(value)
      ? Object.entries(value).flatMap(([key, item]) => checkCustomField(item, [name, key]))
      : checkCustomField(value, [name]),
  );

/** An object that comes back as it was sent, whatever its keys; zod's own records would lose `__proto__`. */
const unchangedObject = (find: (value: Record<string, unknown>) => Issue[]) =>
  z
    .unknown()
    .superRefine((value, context) => {
      const issues = isObject(value)
        ? [...findUnstorable(value), ...find(value)]
        : [{ path: [], code: "type", message: "must be an object" }];
      for (const { path, code, message } of issues) {
        context.addIssue({ code: "custom", path, message, params: { code } });
      }
    })
    .meta({ type: "object" });

/** An object with any keys. */
export const AnyObject = unchangedObject(() => []);

/** Fields of the tenant's own. */
export const CustomFields = unchangedObject(checkCustomFields).meta({
  type: "object",
  description:
    "collections: {name: {type: text, number, date or boolean, value}}; other names have plain values",
});

type Optional<S extends Record<string, z.ZodType>> = { [K in keyof S]: z.ZodOptional<S[K]> };
type Clearable<S extends Record<string, z.ZodType>> = {
  [K in keyof S]: z.ZodOptional<z.ZodNullable<S[K]>>;
};

const mapShape = (
  shape: Record<string, z.ZodType>,
  make: (schema: z.ZodType) => z.ZodType,
): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, make(schema)]));

export const optional = <S extends Record<string, z.ZodType>>(shape: S) =>
  mapShape(shape, (schema) => schema.optional()) as Optional<S>;

/** As a PATCH takes them: null clears. */
export const clearable = <S extends Record<string, z.ZodType>>(shape: S) =>
  mapShape(shape, (schema) => schema.nullable().optional()) as Clearable<S>;

export const Comment = text(2000);
export const NoteText = requiredText(10_000);
