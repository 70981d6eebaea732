import type { z } from "zod";
import { InexactNumber } from "../kit/json.ts";
import type { Fault } from "./errors.ts";

/** A validated value, or what is wrong with it. */
export type Checked<T> = { value: T; faults?: never } | { value?: never; faults: Fault[] };

type Issue = z.core.$ZodIssue;

const MAX_KEY_CHARACTERS = 100;
/** No answer names more faults. */
export const MAX_FAULTS = 100;

const formatPath = (path: PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key).slice(0, MAX_KEY_CHARACTERS);
    return text === "" ? name : `${text}.${name}`;
  }, "");

const REQUIRED = { code: "required", message: "is required" };

/** Returns the schema's own error message; zod's default messages start with "Invalid". */
const findCustomMessage = ({ message }: Issue): string | undefined =>
  message.startsWith("Invalid ") ? undefined : message;

const describeTypeIssue = (issue: Issue & { code: "invalid_type" }): Omit<Fault, "field"> => {
  if (issue.input === undefined) return REQUIRED;
  const { input, expected } = issue;
  const exact = input instanceof InexactNumber ? " of at most 15 digits" : "";
  // Numbers of accounts and documents are texts, and callers send them as JSON numbers.
  const isDigits = expected === "string" && typeof input === "number";
  const example = isDigits ? `, such as ${JSON.stringify(String(input))}` : "";
  return {
    code: "type",
    message: findCustomMessage(issue) ?? `must be ${addArticle(expected)}${exact}${example}`,
  };
};

const FORMATS: Partial<Record<string, string>> = {
  datetime: 'must be a date-time with a time zone, such as "2026-01-31T09:00:00Z"',
  date: 'must be a date, such as "2026-01-31"',
  base64:
    "must be Base64 (A to Z, a to z, 0 to 9, + and /), with or without line ends, or a data: address with it",
};

const describeFormatIssue = (issue: Issue & { code: "invalid_format" }): Omit<Fault, "field"> => ({
  code: "format",
  message: findCustomMessage(issue) ?? FORMATS[issue.format] ?? issue.message,
});

const addArticle = (expected: string): string => {
  if (expected === "int") return "a whole number";
  if (expected === "record") return "an object";
  return `${/^[aeio]/.test(expected) ? "an" : "a"} ${expected}`;
};

const describeSizeIssue = (
  issue: Issue & { code: "too_small" | "too_big" },
): Omit<Fault, "field"> => {
  const few = issue.code === "too_small";
  const bound = few ? issue.minimum : issue.maximum;
  if (issue.origin === "string" || issue.origin === "array") {
    const unit = issue.origin === "string" ? "characters" : "items";
    if (few && Number(bound) === 1) return { code: "empty", message: "must not be empty" };
    return few
      ? { code: "too_short", message: `must have at least ${bound} ${unit}` }
      : { code: "too_long", message: `must have at most ${bound} ${unit}` };
  }
  const edge = few ? "at least" : "at most";
  const more = few ? "greater than" : "less than";
  return { code: "range", message: `must be ${issue.inclusive ? edge : more} ${bound}` };
};

const describeIssue = (issue: Issue): Omit<Fault, "field"> => {
  switch (issue.code) {
    case "invalid_type":
      return describeTypeIssue(issue);
    case "too_small":
    case "too_big":
      return describeSizeIssue(issue);
    case "invalid_value":
      if (issue.input === undefined) return REQUIRED;
      return {
        code: "enum",
        message:
          findCustomMessage(issue) ?? `must be one of ${issue.values.map(String).join(", ")}`,
      };
    case "invalid_format":
      return describeFormatIssue(issue);
    case "custom": {
      const code: unknown = issue.params?.["code"];
      return { code: typeof code === "string" ? code : "format", message: issue.message };
    }
    default:
      return { code: "format", message: issue.message };
  }
};

/** Converts a validation error to at most 100 faults with field paths and messages for the caller. */
export const toFaults = (error: z.ZodError): Fault[] => {
  const mistyped = new Set<string>();
  return error.issues.slice(0, MAX_FAULTS).flatMap((issue): Fault[] => {
    const field = formatPath(issue.path);
    if (issue.code === "invalid_type") mistyped.add(field);
    // Zod counts the characters of a text in place of a list, and the items of a list in place of a text.
    const isSize = issue.code === "too_small" || issue.code === "too_big";
    if (isSize && mistyped.has(field)) return [];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.slice(0, MAX_FAULTS).map((key) => ({
        field: formatPath([...issue.path, key]),
        code: "unknown",
        message: "is not a known field",
      }));
    }
    return [{ field, ...describeIssue(issue) }];
  });
};

/**
 * Returns the schema of the items of a long list that stops at the most faults that are named; zod would go on, and take
 * some tenths of a second for ten thousand items. The items after that are not looked at: the list is refused already.
 * Not for a schema in a union, whose other options may accept the list.
 */
export const boundFaults = <S extends z.ZodType>(schema: S): S => {
  const bounded = schema.clone();
  const { _zod: internals } = bounded;
  const run = internals.run.bind(internals);
  /** The faults in each list that is checked now. */
  const counts = new WeakMap<object, number>();
  internals.run = (payload, context) => {
    const count = counts.get(context) ?? 0;
    if (count >= MAX_FAULTS) return payload;
    const result = run(payload, context);
    if ("issues" in result && result.issues.length > 0) {
      counts.set(context, count + result.issues.length);
    }
    return result;
  };
  return bounded;
};

/** Joins faults to one sentence. */
export const formatFaults = (list: readonly Fault[]): string =>
  `${list.map((fault) => (fault.field === "" ? `The value ${fault.message}` : `${fault.field} ${fault.message}`)).join("; ")}.`;
