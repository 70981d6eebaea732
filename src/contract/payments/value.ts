import { z } from "zod";
import { formatTimestamp, isWritable } from "../../kit/clock.ts";
import { InexactNumber } from "../../kit/json.ts";
import { findNearest } from "../../kit/nearest.ts";
import { firstCharacters, hasMoreCharacters } from "../../kit/text.ts";
import type { Field } from "./field.ts";
import type { FieldType } from "./operators.ts";

export type Scalar = string | number | boolean;

/** A valid value in the form in which it is compared, or the fault of an invalid one. */
export type CheckResult = { value: Scalar } | { code: string; message: string };

const MAX_CHARACTERS = 500;
const MAX_SHOWN_CHARACTERS = 100;
const DAY = z.iso.date();
const DATE_TIME = z.iso.datetime({ offset: true });

/** Returns a value as JSON of at most 100 characters, for error messages. */
export const abbreviate = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN_CHARACTERS
    ? `${firstCharacters(text, MAX_SHOWN_CHARACTERS)}…`
    : text;
};

const refuse = (code: string, message: string): CheckResult => ({ code, message });

const checkText = (value: unknown): CheckResult => {
  if (typeof value !== "string") {
    const example = typeof value === "number" ? JSON.stringify(String(value)) : '"INV-1"';
    return refuse("type", `must be a string, such as ${example}`);
  }
  if (!value.isWellFormed() || value.includes("\0")) {
    return refuse("format", "must be well-formed Unicode without the character U+0000");
  }
  return hasMoreCharacters(value, MAX_CHARACTERS)
    ? refuse("too_long", `must have at most ${MAX_CHARACTERS} characters`)
    : { value };
};

const checkNumber = (value: unknown, whole: boolean): CheckResult => {
  if (value instanceof InexactNumber) {
    return refuse("format", "must have at most 15 significant digits");
  }
  const isShort = typeof value === "string" && value.length <= MAX_SHOWN_CHARACTERS;
  if (isShort && value.trim() !== "" && Number.isFinite(Number(value))) {
    return refuse("type", `must be a number without quotes, such as ${Number(value)}`);
  }
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return refuse("type", "must be a number, such as 12.5");
  }
  return whole && !Number.isSafeInteger(value)
    ? refuse("type", "must be a whole number")
    : { value };
};

const checkDate = (value: unknown): CheckResult =>
  typeof value === "string" && DAY.safeParse(value).success
    ? { value }
    : refuse("format", 'must be a date, such as "2026-01-31"');

// Stored with milliseconds in UTC, so that comparing the text compares the time.
const checkDateTime = (value: unknown): CheckResult => {
  const isMoment =
    typeof value === "string" &&
    (DAY.safeParse(value).success || DATE_TIME.safeParse(value).success);
  const at = isMoment ? Date.parse(value) : NaN;
  return isWritable(at)
    ? { value: formatTimestamp(at) }
    : refuse(
        "format",
        'must be a date-time with a time zone, such as "2026-01-31T00:00:00Z", or a date',
      );
};

const checkEnum = (value: unknown, { values }: Field): CheckResult => {
  if (typeof value === "string" && values.includes(value)) return { value };
  const [near] = typeof value === "string" ? findNearest(value, values, 1) : [];
  const hint = near === undefined ? "" : `; similar: ${near}`;
  return refuse("enum", `must be one of ${values.join(", ")}${hint}`);
};

const CHECKS: Record<FieldType, (value: unknown, field: Field) => CheckResult> = {
  string: checkText,
  enum: checkEnum,
  boolean: (value) =>
    typeof value === "boolean" ? { value } : refuse("type", "must be true or false"),
  date: checkDate,
  datetime: checkDateTime,
  integer: (value) => checkNumber(value, true),
  money: (value) => checkNumber(value, false),
  number: (value) => checkNumber(value, false),
};

/** Checks a value against a field's type; filters and imported rows use it. */
export const checkValue = (field: Field, value: unknown): CheckResult =>
  CHECKS[field.type](value, field);
