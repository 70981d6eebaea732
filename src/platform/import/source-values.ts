import { z } from "zod";
import type { Fault } from "../../contract/errors.ts";
import { text } from "../../contract/fields.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { parseTimestamp } from "./dates.ts";

/** A day, taken as its midnight in UTC, or a timestamp with an offset, converted to the interface's UTC form. */
export const SourceTimestamp = z.string().transform((value, context) => {
  const at = parseTimestamp(value.trim());
  if (at !== undefined) return formatTimestamp(at);
  context.addIssue({
    code: "custom",
    message: "must be a day as YYYY-MM-DD or a timestamp with offset, 2026-01-31T09:30:00Z",
  });
  return z.NEVER;
});

/** The author of a record in the former system: an e-mail address, a name, or an id of a user. */
export const SourceAuthor = text(200)
  .transform((value) => value.trim())
  .refine((value) => value !== "" && !/\p{Cc}/u.test(value), {
    error: "must be an e-mail address, a name or a user's id in one line",
    params: { code: "format" },
  });

/** Returns the faults of times that cannot be those of a record: later than now, or a change before the creation. */
export const findTimeFaults = <Field extends string>(
  values: { [F in Field]?: string | undefined },
  [created, updated]: readonly [Field, Field?],
  now: number,
): Fault[] => {
  const names = updated === undefined ? [created] : [created, updated];
  const late = names.filter((name) => Date.parse(values[name] ?? "") > now);
  const faults = late.map((field) => ({
    field,
    code: "range",
    message: "must not be in the future",
  }));
  if (updated === undefined) return faults;
  // Both have the interface's form, so that they compare as text.
  const { [created]: first, [updated]: last } = values;
  const isBefore = first !== undefined && last !== undefined && last < first;
  return isBefore
    ? [...faults, { field: updated, code: "range", message: `must not be before ${created}` }]
    : faults;
};
