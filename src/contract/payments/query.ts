import { createHash } from "node:crypto";
import { z } from "zod";
import type { Fault } from "../errors.ts";
import { type Checked, toFaults } from "../faults.ts";
import { Cursor, shownProperties } from "../fields.ts";
import { findNearest } from "../../kit/nearest.ts";
import { CATALOGUE, findField, isSource, SOURCE_WORDS, type Source, SOURCES } from "./catalogue.ts";
import type { Field } from "./field.ts";
import { canonicalize, type Filter, MAX_FAULTS, parseFilter } from "./filter.ts";
import { describeUnknownField, FILTER_EXAMPLE } from "./hints.ts";
import type { PlaceFilters } from "./relative-days.ts";

export const DEFAULT_LIMIT = 500;
export const MAX_ROWS = 100_000;

export const Filters = z
  .record(z.string(), z.unknown(), {
    error: `must be an object of conditions by field, such as ${FILTER_EXAMPLE}`,
  })
  .meta({
    description: `by field, all must hold: ${FILTER_EXAMPLE}; and, or, not; {"daysAgo": 7} for a day before the run`,
  })
  .register(shownProperties, {
    paymentDate: {
      type: "object",
      description: "an example",
      properties: {
        gte: { type: "string", description: "first day" },
        lt: { type: "string", description: "day after the last" },
      },
    },
  });

/** One of the payment sources. */
export const PaymentSourceName = z.enum(SOURCES).describe(SOURCE_WORDS);

/** Request fields that select rows and columns of a source. */
export const selection = {
  source: PaymentSourceName,
  fields: z
    .array(z.string())
    .max(200)
    .optional()
    .meta({ description: "names from payments_schema; absent: the usual ones" }),
  filters: Filters.optional(),
};

export const PaymentQueryBody = z.strictObject({
  ...selection,
  // The last page has null; a walk may begin with it.
  cursor: Cursor.nullish(),
  limit: z.int().min(1).max(MAX_ROWS).optional().meta({ description: "default 500" }),
  pageSize: z.int().min(1).max(MAX_ROWS).optional().meta({ description: "alias of limit" }),
});

/** A validated query. */
export type Selection = {
  source: Source;
  /** In catalogue order. */
  fields: readonly Field[];
  filter: Filter;
};

const resolveFields = (source: Source, names: readonly string[]): Checked<readonly Field[]> => {
  const all = CATALOGUE[source].fields;
  if (names.length === 0) return { value: all.filter(({ core }) => core) };
  const wrong = (name: string): string =>
    name.includes(",")
      ? "must be one field name; send a list of names"
      : describeUnknownField(source, name);
  const strange = names
    .map((name, place) => ({ name, field: `fields[${place}]` }))
    .filter(({ name }) => findField(source, name) === undefined)
    .slice(0, MAX_FAULTS);
  return strange.length > 0
    ? {
        faults: strange.map(({ name, field }) => ({
          field,
          code: "unknown",
          message: wrong(name),
        })),
      }
    : { value: all.filter(({ name }) => names.includes(name)) };
};

/** Adds the most similar known key to the fault of an unknown one. */
const suggestKey = (fault: Fault, known: readonly string[]): Fault => {
  const near = fault.code === "unknown" ? findNearest(fault.field, known, 1) : [];
  return near.length === 0 ? fault : { ...fault, message: `${fault.message}; similar: ${near[0]}` };
};

/**
 * Validates a request body against its schema and the catalogue; returns all faults together. Days relative to the run
 * are refused unless `place` puts days in their place; `rest` has the filters as they were sent.
 */
export const parseSelection = <S extends z.ZodObject>(
  schema: S,
  body: unknown,
  place: PlaceFilters = (_source, filters) => filters,
): Checked<Selection & { rest: z.output<S> }> => {
  const parsed = schema.safeParse(body, { reportInput: true });
  const names = Object.keys(schema.shape);
  const found = (parsed.error === undefined ? [] : toFaults(parsed.error)).map((fault) =>
    suggestKey(fault, names),
  );
  const { source, fields = [], filters = {} } = (body ?? {}) as Record<string, unknown>;
  if (!isSource(source)) return { faults: found };
  const isNames = Array.isArray(fields) && fields.every((name) => typeof name === "string");
  const chosen = resolveFields(source, isNames ? fields : []);
  const { filter, faults: inFilter } = parseFilter(source, place(source, filters));
  const isNew = ({ field }: Fault): boolean => !inFilter.some((known) => known.field === field);
  const all = [...found.filter(isNew), ...(chosen.faults ?? []), ...inFilter];
  if (parsed.data === undefined || chosen.value === undefined || all.length > 0) {
    return { faults: all };
  }
  return { value: { source, fields: chosen.value, filter, rest: parsed.data } };
};

/** Returns a hash that is equal for equal source, fields and filters. */
export const hashSelection = ({ source, fields, filter }: Selection): string =>
  createHash("sha256")
    .update(JSON.stringify([source, fields.map(({ name }) => name), canonicalize(filter)]))
    .digest("base64url");
