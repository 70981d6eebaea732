import { z } from "zod";
import { InexactNumber } from "../../kit/json.ts";
import { nearest } from "../../kit/nearest.ts";
import type { Field, FieldType } from "./field.ts";

export type Scalar = string | number | boolean;

/** A value as it is compared, or what is wrong with the one that was sent. */
export type CheckResult = { value: Scalar } | { code: string; message: string };

const MAX_CHARACTERS = 500;
const MAX_SHOWN_CHARACTERS = 100;
const DAY = z.iso.date();
const DATE_TIME = z.iso.datetime({ offset: true });

/** What was sent, short enough to repeat. */
export const abbreviate = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN_CHARACTERS
    ? `${[...text].slice(0, MAX_SHOWN_CHARACTERS).join("")}…`
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
  return [...value].length > MAX_CHARACTERS
    ? refuse("too_long", `must have at most ${MAX_CHARACTERS} characters`)
    : { value };
};

const checkNumber = (value: unknown, whole: boolean): CheckResult => {
  if (value instanceof InexactNumber) {
    return refuse("format", "must have at most 15 significant digits");
  }
  if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))) {
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
    : refuse("format", 'must be a day, such as "2026-01-31"');

// Kept with milliseconds in UTC, so that text compares as time does.
const checkDateTime = (value: unknown): CheckResult => {
  const isMoment =
    typeof value === "string" &&
    (DAY.safeParse(value).success || DATE_TIME.safeParse(value).success);
  return isMoment
    ? { value: new Date(value).toISOString() }
    : refuse(
        "format",
        'must be a date-time with its zone, such as "2026-01-31T00:00:00Z", or a day',
      );
};

const checkEnum = (value: unknown, { values }: Field): CheckResult => {
  if (typeof value === "string" && values.includes(value)) return { value };
  const [near] = typeof value === "string" ? nearest(value, values, 1) : [];
  const hint = near === undefined ? "" : `; near: ${near}`;
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

/** One value of a field's type, as filters and rows hold it. */
export const checkValue = (field: Field, value: unknown): CheckResult =>
  CHECKS[field.type](value, field);
