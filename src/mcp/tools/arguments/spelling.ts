import { z } from "zod";
import { sortFields } from "../../../contract/fields.ts";
import type { CallArguments } from "../../../contract/operation.ts";
import type { Fault } from "../../../contract/errors.ts";
import { CATALOGUE, isSource } from "../../../contract/payments/catalogue.ts";
import { OPERATOR_NAMES } from "../../../contract/payments/operators.ts";
import { UNITS } from "../../../contract/insights/calendar.ts";
import { isRecord } from "../../../kit/json.ts";
import { findSpelling } from "../../../kit/spelling.ts";

type OnTwice = (fault: Fault) => void;

/** Returns values under the known spellings of their names, and reports names that were sent in several spellings. */
export const respellNames = (
  values: CallArguments,
  known: readonly string[],
  { path, onTwice }: { path: string; onTwice: OnTwice },
): CallArguments => {
  const respelt: CallArguments = {};
  for (const [name, value] of Object.entries(values)) {
    const spelling = findSpelling(name, known);
    if (
      Object.hasOwn(respelt, spelling) ||
      (spelling !== name && Object.hasOwn(values, spelling))
    ) {
      const field = path === "" ? spelling : `${path}.${spelling}`;
      onTwice({ field, code: "repeated", message: "is sent in two spellings; send one of them" });
      continue;
    }
    Object.defineProperty(respelt, spelling, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return respelt;
};

const GROUPS = ["and", "or", "not"] as const;

/** Returns a condition with the documented spelling of days relative to the run. */
const respellDays = (condition: CallArguments, how: { path: string; onTwice: OnTwice }) => {
  const respell = (value: unknown): unknown =>
    isRecord(value) ? respellNames(value, ["daysAgo"], how) : value;
  return Object.fromEntries(
    Object.entries(condition).map(([operator, value]) => [
      operator,
      Array.isArray(value) ? value.map(respell) : respell(value),
    ]),
  );
};

/** Returns filters of payments with the documented spellings of fields and operators. */
const respellFilters = (filters: unknown, fields: readonly string[], report: OnTwice): unknown => {
  if (Array.isArray(filters)) return filters.map((one) => respellFilters(one, fields, report));
  if (!isRecord(filters)) return filters;
  const known = [...fields, ...GROUPS];
  const named = respellNames(filters, known, { path: "filters", onTwice: report });
  return Object.fromEntries(
    Object.entries(named).map(([name, condition]) => {
      if ((GROUPS as readonly string[]).includes(name)) {
        return [name, respellFilters(condition, fields, report)];
      }
      if (!isRecord(condition)) return [name, condition];
      const path = `filters.${name}`;
      const operators = respellNames(condition, OPERATOR_NAMES, { path, onTwice: report });
      return [name, respellDays(operators, { path, onTwice: report })];
    }),
  );
};

/** Returns the documented spelling of a field, also before a unit: `payment_date:Month`. */
const respellField = (field: unknown, fields: readonly string[]): unknown => {
  if (typeof field !== "string") return field;
  const [name = "", unit, ...rest] = field.split(":");
  const known = findSpelling(name, fields);
  return unit === undefined ? known : [known, findSpelling(unit, UNITS), ...rest].join(":");
};

const LISTS = ["fields", "groupBy"] as const;

/** Returns measures of payments with the documented spellings of their fields. */
const respellMeasures = (measures: unknown, fields: readonly string[]): unknown =>
  Array.isArray(measures)
    ? measures.map((measure: unknown) =>
        isRecord(measure) && "field" in measure
          ? { ...measure, field: respellField(measure["field"], fields) }
          : measure,
      )
    : measures;

/** Returns arguments about payments with the documented spellings of the fields that they name. */
export const respellPayments = (values: CallArguments, onTwice: OnTwice): CallArguments => {
  const { source, filters, measures } = values;
  if (!isSource(source)) return values;
  const fields = CATALOGUE[source].fields.map(({ name }) => name);
  const lists = LISTS.flatMap((list): [string, unknown][] => {
    const names = values[list];
    return Array.isArray(names) ? [[list, names.map((name) => respellField(name, fields))]] : [];
  });
  return {
    ...values,
    ...Object.fromEntries(lists),
    ...(filters === undefined ? {} : { filters: respellFilters(filters, fields, onTwice) }),
    ...(measures === undefined ? {} : { measures: respellMeasures(measures, fields) }),
  };
};

/** The schema of a value without what makes it optional or nullable. */
const withoutWrapping = (schema: z.ZodType): z.ZodType => {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return withoutWrapping(schema.unwrap() as z.ZodType);
  }
  return schema;
};

/** Returns the function that respells the words of an argument; undefined where it takes any text. */
const respellerOf = (wrapped: z.ZodType): ((text: string) => string) | undefined => {
  const schema = withoutWrapping(wrapped);
  if (schema instanceof z.ZodEnum) {
    const words = schema.options.filter((word) => typeof word === "string");
    return (text) => findSpelling(text, words);
  }
  const fields = sortFields.get(schema)?.fields;
  if (fields === undefined) return undefined;
  const known = fields.flatMap((field) => [field, `-${field}`]);
  return (text) =>
    text
      .split(",")
      .map((term) => findSpelling(term.trim(), known))
      .join(",");
};

/** No word or sort is longer. */
const MAX_LENGTH = 1000;

/**
 * Returns an argument with the documented spelling of the words that an operation's schema lists and a tool's schema
 * does not, because a platform may know further ones.
 */
export const respellWords = (value: unknown, schema: z.ZodType | undefined): unknown =>
  typeof value !== "string" || value.length > MAX_LENGTH || schema === undefined
    ? value
    : (respellerOf(schema)?.(value) ?? value);
