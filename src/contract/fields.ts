import { z } from "zod";

// Lengths count characters as people do, not UTF-16 units.
const countCharacters = (text: string): number => [...text].length;

const limitLength = (schema: z.ZodString, max: number) =>
  schema
    .refine((value) => value.isWellFormed() && !value.includes("\0"), {
      error: "must be well-formed Unicode without the character U+0000",
      params: { code: "format" },
    })
    .refine((value) => value.length <= max || countCharacters(value) <= max, {
      error: `must have at most ${max} characters`,
      params: { code: "too_long" },
    })
    .meta({ maxLength: max });

export const text = (max: number) => limitLength(z.string(), max);
export const requiredText = (max: number) => limitLength(z.string().min(1), max);

export const Description = requiredText(500);
export const Name = text(200);
/** An account's or a document's number: external, free form. */
export const RecordNumber = requiredText(128);
export const RecordId = requiredText(128);

// Printable, without the separator of paths.
const CODE = /^[^/\p{C}\p{Zl}\p{Zp}]+$/u;

/** The key people give a reason, category, department or resolution; matched ignoring case. */
export const CodeText = limitLength(
  z.string().trim().min(1).regex(CODE, "must be printable and without a slash"),
  64,
).meta({ examples: ["PRICE"] });

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

/** The words of a fault in an amount that is too large, for parsers outside of these schemas too. */
export const MONEY_RANGE = {
  code: "range",
  message: `must have at most ${MAX_WHOLE_DIGITS} digits before the decimal point`,
} as const;

/** Whether an amount has at most 15 digits before the decimal point. */
export const isMoney = (value: number): boolean => Math.abs(value) < MONEY_LIMIT;

/** Money and quantities: exact to 15 significant digits; longer ones never reach a schema as numbers. */
export const Amount = z
  .number()
  .refine(isMoney, { error: MONEY_RANGE.message, params: { code: MONEY_RANGE.code } })
  .meta({ exclusiveMinimum: -MONEY_LIMIT, exclusiveMaximum: MONEY_LIMIT });

export const PositiveAmount = Amount.refine((value) => value > 0, {
  error: "must be greater than 0",
  params: { code: "range" },
}).meta({ exclusiveMinimum: 0, exclusiveMaximum: MONEY_LIMIT });

const STATUS_WORDS = ["open", "closed", "cancel"];

/** 0 Open, 1 Closed, 2 Cancel; the words are understood too. */
export const DisputeStatus = z
  .literal([0, 1, 2])
  .meta({ type: "integer", description: "0 Open, 1 Closed, 2 Cancel" });

export const parseStatusWord = (value: unknown): unknown => {
  if (typeof value !== "string") return value;
  const index = STATUS_WORDS.indexOf(value.toLowerCase());
  return index === -1 ? value : index;
};

export const NoteVisibility = z.enum(["Internal", "All"]);
export const ReasonVisibility = z.enum(["Internal", "External", "All"]);

export const auditFields = {
  createUser: z.string(),
  createDate: Timestamp,
  updateUser: z.string(),
  updateDate: Timestamp,
};

export const tenantPath = { tenantId: RecordId };

export const paging = {
  Page: z.int().min(1).optional().meta({ description: "from 1" }),
  PageSize: z.int().min(1).max(1000).optional(),
};

export const bodyPaging = {
  page: z.int().min(1).optional().meta({ description: "from 1" }),
  pageSize: z.int().min(1).max(1000).optional(),
};

export type SortKey<F extends string> = { field: F; descending: boolean };

type SortFault = { message: string; code: "enum" | "repeated" };

/** The sort that a list of terms asks for, or what is wrong with it. More terms than fields name one twice. */
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
      return { message: "must name each field once", code: "repeated" };
    } else return { message: `must name fields of ${fields.join(", ")}`, code: "enum" };
    unused.delete(lower);
  }
  return keys;
};

/** `Field,-Other`: a comma list that names each field at most once, `-` for descending, names in any case. */
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
    .meta({ description: `comma list of ${fields.join(" ")}, each once; - descends` });
