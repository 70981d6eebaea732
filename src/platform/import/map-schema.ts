import { RE2JS } from "re2js";
import { z } from "zod";
import { parseDayPattern, parseIsoDay, PATTERN_PARTS } from "./dates.ts";

const Day = z
  .string()
  .refine((text) => parseIsoDay(text) !== undefined, "must be a day as YYYY-MM-DD");

const Pattern = z.string().transform((text, context) => {
  const read = parseDayPattern(text);
  if (read !== undefined) return read;
  context.addIssue({ code: "custom", message: `must consist of ${PATTERN_PARTS}` });
  return z.NEVER;
});

const MOST_PATTERN_CHARACTERS = 500;

/** A regular expression that finds one group in linear time on any text. */
export type GroupPattern = { pattern: string; find(text: string): string | undefined };

const parseGroupPattern = (pattern: string): GroupPattern | string => {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch {
    return "must be a regular expression of RE2, which has no backreferences and no lookaround";
  }
  if (compiled.groupCount() !== 1) return "must have exactly one group in parentheses";
  return {
    pattern,
    find(text) {
      const matcher = compiled.matcher(text);
      return matcher.find() ? (matcher.group(1) ?? undefined) : undefined;
    },
  };
};

const Regex = z
  .string()
  .max(MOST_PATTERN_CHARACTERS)
  .transform((text, context) => {
    const read = parseGroupPattern(text);
    if (typeof read !== "string") return read;
    context.addIssue({ code: "custom", message: read });
    return z.NEVER;
  });

const Column = z.string().min(1);
const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: "must be text, a number, true, false or null",
});

export const NumberFormat = z
  .strictObject({
    decimal: z.enum([".", ","]).default("."),
    thousands: z
      .enum(["", ",", ".", " ", "'", "\u00A0", "\u202F", "’"], {
        error: 'must be one of "", ",", ".", " " and "\'"',
      })
      .optional(),
    negative: z.enum(["minus", "trailing", "parentheses", "DR/CR"]).optional(),
  })
  .refine(({ decimal, thousands }) => decimal !== thousands, {
    error: "must have different signs for decimals and thousands",
  });

const SignFrom = z.strictObject({
  column: Column,
  negative: z.array(z.string().min(1)).min(1),
  positive: z.array(z.string()).optional(),
});

const amountOptions = {
  number: NumberFormat.optional(),
  negate: z.boolean().optional(),
};

const reading = {
  date: Pattern.optional(),
  asOf: Day.optional(),
  values: z.record(z.string(), Scalar).optional(),
  regex: Regex.optional(),
  signFrom: SignFrom.optional(),
  ...amountOptions,
};

export const FromColumn = z
  .strictObject({ column: Column, ...reading })
  .transform((value) => ({ from: "column" as const, ...value }));
export const Joined = z
  .strictObject({
    join: z.array(Column).min(1),
    with: z.string().max(20).default(" "),
    ...reading,
  })
  .transform((value) => ({ from: "join" as const, ...value }));
export const DebitCredit = z
  .strictObject({ debit: Column.optional(), credit: Column.optional(), ...amountOptions })
  .transform((value) => ({ from: "debitCredit" as const, ...value }));
export const Sum = z
  .strictObject({ sum: Column, signFrom: SignFrom.optional(), ...amountOptions })
  .transform((value) => ({ from: "sum" as const, ...value }));
export const Constant = z
  .strictObject({ value: Scalar })
  .transform((value) => ({ from: "value" as const, ...value }));

export const Equals = z.strictObject({ column: Column, equals: z.string() });
export const NotEmpty = z.strictObject({ column: Column, notEmpty: z.literal(true) });
export const NotAfter = z.strictObject({
  column: Column,
  date: Pattern.optional(),
  notAfter: Day,
});

export const SourceKey = z.array(Column).min(1);

const isEncoding = (label: string): boolean => {
  try {
    return new TextDecoder(label).encoding !== "";
  } catch {
    return false;
  }
};

const Codes = z.array(z.string().trim().min(1).max(40)).min(1).max(1000);

/** The members of a map that say how its file is read, beside its fields. */
export const FileOptions = z.object({
  header: z.int().min(1).max(10_000).optional(),
  delimiter: z
    .string()
    .refine((text) => text.length === 1 && !/["\r\n\w]/.test(text), {
      error: 'must be one character such as "," ";" "\\t" or "|"',
    })
    .optional(),
  encoding: z
    .string()
    .max(40)
    .refine(isEncoding, { error: "must be an encoding such as utf-8 or windows-1252" })
    .optional(),
  sheet: z.string().min(1).max(31).optional(),
  number: NumberFormat.optional(),
  take: Codes.optional(),
  leaveOut: Codes.optional(),
});
export type FileOptions = z.output<typeof FileOptions>;

type FromColumn = z.output<typeof FromColumn>;
type Joined = z.output<typeof Joined>;
/** A field that is read from one column or several joined ones. */
export type TextEntry = FromColumn | Joined;
export type DebitCredit = z.output<typeof DebitCredit>;
export type Sum = z.output<typeof Sum>;
export type Constant = z.output<typeof Constant>;
export type Entry = TextEntry | DebitCredit | Sum | Constant;
export type SignFrom = z.output<typeof SignFrom>;

export type Condition =
  | z.output<typeof Equals>
  | z.output<typeof NotEmpty>
  | z.output<typeof NotAfter>;
