import { z } from "zod";
import { isWritable } from "../../kit/clock.ts";
import { findNearest } from "../../kit/nearest.ts";
import { findSpelling } from "../../kit/spelling.ts";
import type { Fault } from "../errors.ts";
import { boundFaults, type Checked, toFaults } from "../faults.ts";

/** Returns the words after a fault that name the most similar known value and all known ones, or the first of them. */
export const describeKnown = (word: string, known: readonly string[], most = Infinity): string => {
  const [near] = findNearest(word, known, 1);
  const more = known.length > most ? ` and ${known.length - most} more` : "";
  const listed = `; known: ${known.slice(0, most).join(", ")}${more}`;
  return near === undefined ? listed : `; similar: ${near}${listed}`;
};

/** Validates the arguments of an insight; unknown ones are refused with the known ones and the most similar. */
export const parseArguments = <S extends z.ZodObject>(
  schema: S,
  sent: unknown,
): Checked<z.output<S>> => {
  const { data, error } = schema.safeParse(sent, { reportInput: true });
  if (data !== undefined) return { value: data };
  const known = Object.keys(schema.shape);
  const explain = (fault: Fault): Fault =>
    fault.code === "unknown" && !fault.field.includes(".")
      ? { ...fault, message: `is not an argument${describeKnown(fault.field, known)}` }
      : fault;
  return { faults: toFaults(error ?? new z.ZodError([])).map(explain) };
};

const DAY_FORM =
  'must be a date, such as "2026-01-31", or a time with its offset, such as "2026-01-31T08:00:00+01:00"';

const TIME = z.regexes.datetime({ offset: true });

const isDayOrTime = (text: string): boolean =>
  z.regexes.date.test(text) || (TIME.test(text) && isWritable(Date.parse(text)));

/** A day of the tenant's, or a time with offset. The JSON schema has no format or pattern, which some hosts refuse. */
export const Day = z
  .string(DAY_FORM)
  .refine(isDayOrTime, { error: DAY_FORM, params: { code: "format" } })
  .meta({ description: "YYYY-MM-DD", examples: ["2026-01-31"] });

/** A thousand years in days: times computed from it stay exact. */
const MAX_DAYS = 366_000;

export const DayCount = z.int("must be a number of days, such as 30").min(0).max(MAX_DAYS);

/** The days from the creation of a dispute to its deadline, at least 1. */
export const DeadlineDays = z
  .int("must be a number of days, such as 45")
  .min(1)
  .max(MAX_DAYS)
  .describe("days to decide from creation; default: those of the reason, or the tenant");

/** A currency code in any letter case. */
export const Currency = z
  .string()
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code, such as "USD"')
  .meta({ examples: ["USD"] });

export const Flag = z.boolean("must be true or false");

const MAX_VALUES = 1000;

/** One of the words in any letter case. */
export const wordInAnyCase = <const T extends readonly string[]>(words: T) =>
  z.preprocess((sent) => (typeof sent === "string" ? sent.toLowerCase() : sent), z.enum(words));

/** A list, or one value instead of a list of one. */
export const oneOrMore = <S extends z.ZodType>(value: S) =>
  z.preprocess(
    (sent) => (sent === undefined || Array.isArray(sent) ? sent : [sent]),
    z.array(value).min(1).max(MAX_VALUES),
  );

/** One of the words, in any spelling; a refusal names the most similar one and all. */
export const wordAmong = (words: readonly string[]) =>
  boundFaults(
    z.preprocess(
      (sent) => (typeof sent === "string" ? findSpelling(sent, words) : sent),
      z.string(`must be one of ${words.join(", ")}`).superRefine((word, context) => {
        if (words.includes(word)) return;
        const message = `must be a known word${describeKnown(word, words)}`;
        context.addIssue({ code: "custom", message, params: { code: "enum" } });
      }),
    ),
  );

/** Finds what `orderBy` names, in any spelling, among the groupings and figures of a summary. */
export const chooseOrder = <T extends string>(
  known: readonly T[],
  orderBy: string | undefined,
): Checked<T | undefined> => {
  if (orderBy === undefined) return { value: orderBy };
  const spelling = findSpelling(orderBy, known);
  const value = known.find((name) => name === spelling);
  if (value !== undefined) return { value };
  const message = `is not a grouping or figure of this summary${describeKnown(orderBy, known)}`;
  return { faults: [{ field: "orderBy", code: "enum", message }] };
};

const MAX_ITEMS = 200;

/** The number of items that a summary returns. */
export const ItemLimit = z
  .int("must be a whole number, such as 20")
  .min(1)
  .max(MAX_ITEMS)
  .default(20)
  .describe("items; default 20");

const MAX_OFFSET = 10_000;

/** The number of items that earlier answers had. A platform of an earlier version refuses it. */
const ItemOffset = z
  .int()
  .min(0)
  .max(MAX_OFFSET)
  .default(0)
  .meta({ description: "items of earlier answers to leave out" });

/** The order of a summary's items, and which of them it returns. */
export const ordering = (orderBy: string) => ({
  orderBy: z.string().optional().meta({ description: orderBy }),
  order: z.enum(["asc", "desc"]).describe("of orderBy, ascending or descending").optional(),
  limit: ItemLimit,
  offset: ItemOffset,
});

export const MAX_GROUPINGS = 3;

const MAX_BUCKETS = 20;

/** The last day of each age bucket, ascending. */
export const AgeBuckets = z
  .array(DayCount, "must be a list of days, such as [30, 60, 90]")
  .min(1)
  .max(MAX_BUCKETS)
  .refine((days) => days.every((day, place) => place === 0 || day > (days[place - 1] ?? day)), {
    error: "must ascend, such as [30, 60, 90]",
    params: { code: "format" },
  });

/** The arguments of a summary in groups, validated. */
export type Summary<Filters, Grouping, Figure> = {
  filters: Filters;
  groupBy: readonly Grouping[];
  ageBuckets: readonly number[];
  /** Without it: age and dates ascending, else the amount descending. */
  orderBy: Grouping | Figure | undefined;
  order: "asc" | "desc" | undefined;
  limit: number;
  offset: number;
};
