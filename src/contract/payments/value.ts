import { z } from "zod";
import { InexactNumber } from "../../kit/json.ts";
import { nearest } from "../../kit/nearest.ts";
import type { Field, FieldType } from "./field.ts";

export type Scalar = string | number | boolean;

/** A value as it is compared, or what is wrong with the one that was sent. */
export type Checked = { value: Scalar } | { code: string; message: string };

const LONGEST = 500;
const SHOWN = 100;
const DAY = z.iso.date();
const MOMENT = z.iso.datetime({ offset: true });

/** What was sent, short enough to repeat. */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN ? `${[...text].slice(0, SHOWN).join("")}…` : text;
};

const refused = (code: string, message: string): Checked => ({ code, message });

const textOf = (value: unknown): Checked => {
  if (typeof value !== "string") {
    const example = typeof value === "number" ? JSON.stringify(String(value)) : '"INV-1"';
    return refused("type", `must be a string, such as ${example}`);
  }
  if (!value.isWellFormed() || value.includes("\0")) {
    return refused("format", "must be well-formed Unicode without the character U+0000");
  }
  return [...value].length > LONGEST
    ? refused("too_long", `must have at most ${LONGEST} characters`)
    : { value };
};

const numberOf = (value: unknown, whole: boolean): Checked => {
  if (value instanceof InexactNumber) {
    return refused("format", "must have at most 15 significant digits");
  }
  if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))) {
    return refused("type", `must be a number without quotes, such as ${Number(value)}`);
  }
  if (typeof value !== "number" || !Number.isFinite(value)) {
    return refused("type", "must be a number, such as 12.5");
  }
  return whole && !Number.isSafeInteger(value)
    ? refused("type", "must be a whole number")
    : { value };
};

const dayOf = (value: unknown): Checked =>
  typeof value === "string" && DAY.safeParse(value).success
    ? { value }
    : refused("format", 'must be a day, such as "2026-01-31"');

// Kept with milliseconds in UTC, so that text compares as time does.
const momentOf = (value: unknown): Checked => {
  const isMoment =
    typeof value === "string" && (DAY.safeParse(value).success || MOMENT.safeParse(value).success);
  return isMoment
    ? { value: new Date(value).toISOString() }
    : refused(
        "format",
        'must be a date-time with its zone, such as "2026-01-31T00:00:00Z", or a day',
      );
};

const choiceOf = (value: unknown, { values }: Field): Checked => {
  if (typeof value === "string" && values.includes(value)) return { value };
  const [near] = typeof value === "string" ? nearest(value, values, 1) : [];
  const hint = near === undefined ? "" : `; near: ${near}`;
  return refused("enum", `must be one of ${values.join(", ")}${hint}`);
};

const CHECKS: Record<FieldType, (value: unknown, field: Field) => Checked> = {
  string: textOf,
  enum: choiceOf,
  boolean: (value) =>
    typeof value === "boolean" ? { value } : refused("type", "must be true or false"),
  date: dayOf,
  datetime: momentOf,
  integer: (value) => numberOf(value, true),
  money: (value) => numberOf(value, false),
  number: (value) => numberOf(value, false),
};

/** One value of a field's type, as filters and rows hold it. */
export const checkValue = (field: Field, value: unknown): Checked =>
  CHECKS[field.type](value, field);
