import { z } from "zod";
import { hasMoreCharacters } from "../kit/text.ts";

/** Further rules read texts of so many characters at most: patterns take a while for megabytes. */
const LONGEST_SEARCHED = 10_000;

const limitLength = (schema: z.ZodString, max: number) =>
  schema
    .refine((value) => value.isWellFormed() && !value.includes("\0"), {
      error: "must be well-formed Unicode without the character U+0000",
      params: { code: "format" },
    })
    .superRefine((value, context) => {
      if (!hasMoreCharacters(value, max)) return;
      context.addIssue({
        code: "custom",
        message: `must have at most ${max} characters`,
        params: { code: "too_long" },
        continue: value.length <= LONGEST_SEARCHED,
      });
    })
    .meta({ maxLength: max });

export const text = (max: number) => limitLength(z.string(), max);

const nonEmptyText = (max: number) => limitLength(z.string().min(1), max);

/** A text with at least one character that is not a blank. */
export const requiredText = (max: number) =>
  nonEmptyText(max).refine((value) => value === "" || value.trim() !== "", {
    error: "must not be empty; it has blanks only",
    params: { code: "empty" },
  });

export const Description = requiredText(500).describe("name for people");
export const Name = text(200);
/** An account or document number of the customer's accounting system. */
export const RecordNumber = nonEmptyText(128);
export const AccountNumber = nonEmptyText(128).describe("of the customer");
export const DocumentNumber = nonEmptyText(128).describe("of the invoice or other document");
export const RecordId = nonEmptyText(128);

/** One of several ways to name a record. Null is the same as absent: many clients write all of them. */
export const alternative = <T>(schema: z.ZodType<T, T>) =>
  schema.nullish().transform((value) => value ?? undefined);

/** The fault of a body without a field that is only optional if others are sent. */
export const requiredUnless = (field: string, others: string) => ({
  error: `is required unless ${others} is sent`,
  path: [field],
  params: { code: "required" },
});

// Printable characters except the path separator. URL parsers drop the segments "." and "..", so a record with such a
// code could be neither read nor deleted.
const CODE = /^(?!\.{1,2}$)[^/\p{C}\p{Zl}\p{Zp}]+$/u;

const MAX_CODE = 64;

/** The code of a reason, category, department or resolution; compared ignoring case. */
export const CodeText = limitLength(z.string().trim().min(1), MAX_CODE)
  .regex(CODE, "must have printable characters only, no slash, and not be . or ..")
  .meta({ maxLength: MAX_CODE, description: "in any letter case", examples: ["PRICE"] });

/** The code of a new entry of the dispute configuration. */
export const UniqueCode = CodeText.describe("unique in any letter case");

export const Email = limitLength(z.string().trim().min(1), 254)
  .refine((value) => z.email().safeParse(value).success, {
    error: "must be an e-mail address",
    params: { code: "format" },
  })
  .meta({ format: "email" });

export const Timestamp = z.iso
  .datetime()
  .meta({ description: "UTC", examples: ["2026-11-20T23:37:00.123Z"] });

const MAX_WHOLE_DIGITS = 15;
const MONEY_LIMIT = 10 ** MAX_WHOLE_DIGITS;

/** The fault of an amount that is too large; also used by parsers outside these schemas. */
export const MONEY_RANGE = {
  code: "range",
  message: `must have at most ${MAX_WHOLE_DIGITS} digits before the decimal point`,
} as const;

/** Returns whether an amount has at most 15 digits before the decimal point. */
export const isMoney = (value: number): boolean => Math.abs(value) < MONEY_LIMIT;

/** Money or a quantity, exact to 15 significant digits; the JSON parser turns longer numbers into `InexactNumber`. */
export const Amount = z
  .number()
  .refine(isMoney, { error: MONEY_RANGE.message, params: { code: MONEY_RANGE.code } })
  .meta({ exclusiveMinimum: -MONEY_LIMIT, exclusiveMaximum: MONEY_LIMIT });

export const PositiveAmount = Amount.refine((value) => value > 0, {
  error: "must be greater than 0",
  params: { code: "range" },
}).meta({ exclusiveMinimum: 0, exclusiveMaximum: MONEY_LIMIT });

const SPELLINGS: Readonly<Record<string, number>> = {
  open: 0,
  closed: 1,
  cancel: 2,
  canceled: 2,
  cancelled: 2,
};

/** Dispute status: 0 Open, 1 Closed, 2 Cancel. Requests may send the words too. */
export const DisputeStatus = z
  .literal([0, 1, 2], { error: "must be one of 0 (Open), 1 (Closed), 2 (Canceled)" })
  .meta({ type: "integer", description: "0 Open, 1 Closed, 2 Cancel" });

/** Converts a word for a dispute's status to its number; letter case does not matter. */
export const parseStatusWord = (value: unknown): unknown => {
  if (typeof value !== "string") return value;
  const word = value.toLowerCase();
  return Object.hasOwn(SPELLINGS, word) ? SPELLINGS[word] : value;
};

export const NoteVisibility = z.enum(["Internal", "All"]).describe("All includes the customer");
export type NoteVisibility = z.infer<typeof NoteVisibility>;
export const ReasonVisibility = z
  .enum(["Internal", "External", "All"])
  .describe("Internal (own), External (customers see it) or All");

export const auditFields = {
  createUser: z.string(),
  createDate: Timestamp,
  updateUser: z.string(),
  updateDate: Timestamp,
};

export const tenantPath = { tenantId: RecordId };

export const paging = {
  Page: z.int().min(1).optional().meta({ description: "from 1" }),
  PageSize: z.int().min(1).max(1000).optional().describe("rows of a page; absent: all"),
};

export const bodyPaging = {
  page: z.int().min(1).optional().meta({ description: "from 1" }),
  pageSize: z.int().min(1).max(1000).optional().describe("rows of a page; absent: all"),
};

/** The place where the next page of a list begins. */
export const Cursor = requiredText(4096).describe("of the page before");

/** Cursor pagination of a list. */
export const Pagination = z.object({
  cursor: z.string().nullable(),
  hasMore: z.boolean(),
  rowCount: z.int(),
});
export type Pagination = z.infer<typeof Pagination>;

export type SortKey<F extends string> = { field: F; descending: boolean };

type SortFault = { message: string; code: "enum" | "repeated" };

/** Parses a comma-separated sort. Splitting stops after one term more than there are fields: that one is a repetition. */
const parseSort = <F extends string>(
  value: string,
  fields: readonly F[],
): SortKey<F>[] | SortFault => {
  const unused = new Map(fields.map((field) => [field.toLowerCase(), field]));
  const keys: SortKey<F>[] = [];
  for (const part of value.split(",", fields.length + 1)) {
    const name = part.trim();
    const descending = name.startsWith("-");
    const lower = name.slice(descending ? 1 : 0).toLowerCase();
    const field = unused.get(lower);
    if (field !== undefined) keys.push({ field, descending });
    else if (keys.some((key) => key.field.toLowerCase() === lower)) {
      return { message: "must name each field at most once", code: "repeated" };
    } else return { message: `must name only ${fields.join(", ")}`, code: "enum" };
    unused.delete(lower);
  }
  return keys;
};

/** The fields that a sort may name, by its schema. */
export const sortFields = z.registry<{ fields: readonly string[] }>();

/** Creates the schema of a sort such as `Field,-Other`: comma-separated, `-` for descending, case-insensitive, each field once. */
export const sortBy = <const F extends string>(fields: readonly F[]) =>
  z
    .string()
    .min(1)
    .transform((value, context): SortKey<F>[] => {
      const read = parseSort(value, fields);
      if (Array.isArray(read)) return read;
      const { message, code } = read;
      context.addIssue({ code: "custom", message, params: { code } });
      return z.NEVER;
    })
    .meta({ description: `comma list of ${fields.join(" ")}, each once; - for descending` })
    .register(sortFields, { fields });

type Shown =
  | { type: "string" | "number" | "boolean"; description: string }
  | { type: "object"; description: string; properties: Record<string, Shown> };

/**
 * Properties that tools publish of an object with keys of any name, or with more fields than a tool has room for. The
 * description of its argument names the others.
 */
export const shownProperties = z.registry<Record<string, Shown>>();
