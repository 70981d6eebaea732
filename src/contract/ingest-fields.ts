import { z } from "zod";
import { isWritable } from "../kit/clock.ts";
import { InexactNumber } from "../kit/json.ts";
import { MAX_FAULTS } from "./faults.ts";
import { Amount, Cursor, RecordNumber, requiredText, text } from "./fields.ts";

/** The external number of an account or document, or the reference of a note; part of paths. */
export const IngestNumber = RecordNumber.refine((value) => !/\p{Cc}/u.test(value), {
  error: "must have no control characters",
  params: { code: "format" },
});

const codeOf = (standard: string, form: RegExp, example: string) =>
  z
    .string()
    .regex(form, `must be an ISO ${standard} code such as ${example}`)
    .meta({ description: `such as ${example}` });

export const CurrencyCode = codeOf("4217", /^[A-Z]{3}$/, "USD");
export const LanguageCode = codeOf("639-1", /^[a-z]{2}$/, "en");
export const CountryCode = codeOf("3166-1 alpha-2", /^[A-Z]{2}$/, "US");

// Regular expressions only: nested zod schemas are measurably slower.
const DAY = z.regexes.date;
const DATE_TIME = z.regexes.datetime({ offset: true });

const isDateTime = (value: string): boolean =>
  DATE_TIME.test(value) && isWritable(Date.parse(value));

/** A calendar date, or a date-time with a time zone. */
export const IngestDate = z
  .string()
  .refine((value) => DAY.test(value) || isDateTime(value), {
    error: "must be a date such as 2026-01-31, or a date-time with a time zone",
    params: { code: "format" },
  })
  .meta({ description: "YYYY-MM-DD", examples: ["2026-01-31"] });

const MAX_DECIMALS = 4;

// Up to 15 digits, the shortest decimal text of a number equals the text that was sent.
const countDecimals = (value: number): number => {
  const [digits = "", exponent = "0"] = String(value).split("e");
  const [, fraction = ""] = digits.split(".");
  return Math.max(0, fraction.length - Number(exponent));
};

const SCALE = 10 ** MAX_DECIMALS;
const MAX_SCALED = 1e15;

// Arithmetic answers most cases; the text comparison is exact but many times slower.
const hasFewDecimals = (value: number): boolean => {
  const scaled = Math.round(value * SCALE);
  const isExact = Math.abs(scaled) < MAX_SCALED && scaled / SCALE === value;
  return isExact || countDecimals(value) <= MAX_DECIMALS;
};

/** An amount of money of a document or account: exact, at most 4 decimal places. */
export const IngestAmount = Amount.refine(hasFewDecimals, {
  error: `must have at most ${MAX_DECIMALS} decimal places`,
  params: { code: "format" },
});

export const Address = z.object({
  address1: text(200).optional().describe("street"),
  address2: text(200).optional().describe("unit or floor"),
  city: text(200).optional().describe("town"),
  state: text(200).optional().describe("or province"),
  zip: text(200).optional().describe("postal code"),
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

/** Returns the fault of a value itself, not of the values in it. */
const findFault = (value: unknown): Omit<Issue, "path"> | undefined => {
  if (value instanceof InexactNumber) {
    return { code: "type", message: "must be a number of at most 15 digits" };
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { code: "type", message: "must be a finite number" };
  }
  return typeof value === "string" && !isText(value) ? MALFORMED_TEXT : undefined;
};

/**
 * Finds parts of a JSON value that the store cannot represent: inexact numbers and malformed text. A body may have half a
 * million values, so a path is written for those with faults alone, and for as many as are reported.
 */
const findUnstorable = (whole: unknown): Issue[] => {
  const issues: Issue[] = [];
  const path: PropertyKey[] = [];
  const visit = (value: unknown): void => {
    const fault = findFault(value);
    if (fault !== undefined) issues.push({ path: [...path], ...fault });
    if (fault !== undefined || typeof value !== "object" || value === null) return;
    for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (issues.length >= MAX_FAULTS) return;
      path.push(key);
      if (typeof key === "number" || isText(key)) visit(item);
      else issues.push({ path: [...path], ...MALFORMED_TEXT });
      path.pop();
    }
  };
  visit(whole);
  return issues;
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

/** Creates the schema of an object that is stored unchanged. zod's record would drop the key `__proto__`. */
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

/** A JSON object with any keys. */
export const AnyObject = unchangedObject(() => []).meta({
  type: "object",
  description: "any keys",
});

/** Custom fields of the tenant. */
export const CustomFields = unchangedObject(checkCustomFields).meta({
  type: "object",
  description: "values, or {type, value}",
});

const MAX_PAGE_ROWS = 1000;

/** Cursor pages of a list of the ingest service. */
export const pages = {
  limit: z.int().min(1).max(MAX_PAGE_ROWS).optional().meta({ description: "default 100" }),
  cursor: Cursor.optional(),
};

/** Part of a name or number to search for; fewer than 3 characters find only what begins with them. */
export const SearchText = requiredText(200).optional();

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

/** Makes every field optional and nullable, as in a PATCH body where null clears a field. */
export const clearable = <S extends Record<string, z.ZodType>>(shape: S) =>
  mapShape(shape, (schema) => schema.nullable().optional()) as Clearable<S>;

export const Comment = text(2000);
/** The author of a note: the id of a user or key, or the text that an import brought. */
export const NoteAuthor = z
  .string()
  .describe("id of a user or key, or the author in an imported file");
export const NoteText = requiredText(10_000).describe("up to 10,000 characters");
