import { z } from "zod";
import type { Fault } from "../errors.ts";
import type { Checked } from "../faults.ts";
import { CATALOGUE, findField, isSource, type Source } from "../payments/catalogue.ts";
import type { Field } from "../payments/field.ts";
import { type Filter, parseFilter } from "../payments/filter.ts";
import { describeUnknownField } from "../payments/hints.ts";
import type { FieldType } from "../payments/operators.ts";
import { Filters, PaymentSourceName } from "../payments/query.ts";
import {
  chooseOrder,
  describeKnown,
  MAX_GROUPINGS,
  ordering,
  parseArguments,
  wordAmong,
} from "./arguments.ts";
import { type Unit, UNITS, utcCalendar } from "./calendar.ts";
import { placeDays } from "./payment-days.ts";
import {
  FAMILY_GROUPINGS,
  type FamilyFilters,
  familyFilters,
  type FamilyGrouping,
  isFamilyGrouping,
} from "./families.ts";
import { dateTypesOf, placeRelativeDays, type RunDay } from "./relative-days.ts";
import { ExactNumber, GroupKey, insightResult } from "./result.ts";

export const MEASURE_OPS = ["count", "countDistinct", "sum", "avg", "min", "max"] as const;
export type MeasureOp = (typeof MEASURE_OPS)[number];

/** The field that identifies a payment; rows without it are payments of their own. */
export const PAYMENT_ID: Readonly<Record<Source, string>> = {
  cashapp: "paymentId",
  iandp: "paymentId",
  bpn: "networkPaymentId",
};

/** The amount that a summary adds up if it is asked for no measure. */
export const SUMMED_AMOUNT: Readonly<Record<Source, string>> = {
  cashapp: "paymentAmount",
  iandp: "amountPaid",
  bpn: "paymentAmount",
};

const PAYMENT_AMOUNTS: ReadonlySet<string> = new Set([
  "paymentAmount",
  "unappliedAmount",
  "feeAmount",
  "netAmount",
]);

/**
 * Whether a field is an amount of the payment itself, which each of its rows repeats. It counts once per payment and
 * group: the largest of its rows, which are equal in sound data.
 */
export const isPaymentAmount = ({ name }: Pick<Field, "name">): boolean =>
  PAYMENT_AMOUNTS.has(name);

const MAX_MEASURES = 10;
const MAX_TOP_ROWS = 20;

const MEASURES_EXAMPLE = '[{"op": "sum", "field": "paymentAmount"}]';

const MeasureBody = z.strictObject(
  {
    op: wordAmong(MEASURE_OPS).meta({ description: MEASURE_OPS.join(", ") }),
    field: z.string().optional().describe("absent for count"),
  },
  {
    error: ({ code }) =>
      code === "invalid_type"
        ? `must be an object, such as ${MEASURES_EXAMPLE.slice(1, -1)}`
        : undefined,
  },
);

export const PaymentSummaryBody = z.strictObject({
  source: PaymentSourceName,
  filters: Filters.optional(),
  ...familyFilters,
  groupBy: z
    .array(z.string(), 'must be a list of fields, such as ["payerName", "paymentDate:month"]')
    .max(MAX_GROUPINGS)
    .default([])
    .meta({
      description: `up to 3 fields, ${FAMILY_GROUPINGS.join(" or ")}; dates also as paymentDate:UNIT (${UNITS.join(", ")})`,
    }),
  measures: z
    .array(MeasureBody, `must be a list, such as ${MEASURES_EXAMPLE}`)
    .max(MAX_MEASURES)
    .optional()
    .meta({ description: `default: count and sum of the amount; such as ${MEASURES_EXAMPLE}` }),
  ...ordering("a grouping, payments, rows, or a measure such as sum(paymentAmount)"),
  topRows: z
    .int("must be a whole number, such as 5")
    .min(0)
    .max(MAX_TOP_ROWS)
    .default(0)
    .meta({ description: "also rows with the largest values" }),
  topOrder: z.enum(["largest", "smallest"]).default("largest").describe("default largest"),
});

/** A field by which rows are grouped, the span of time that contains its date, or what its account belongs to. */
export type PaymentGrouping = {
  name: string;
  field: Field;
  unit: Unit | undefined;
  family?: FamilyGrouping;
};

/** The field of every source that names the account. */
export const ACCOUNT_FIELD = "accountNumber";

/** `count` without a field counts payments and rows, which every item has. */
export type Measure = { op: MeasureOp; field: Field | undefined };

export type PaymentSummary = {
  source: Source;
  /** As sent. */
  filters: Readonly<Record<string, unknown>>;
  /** With the tenant's days as points in time. */
  placed: Readonly<Record<string, unknown>>;
  families: FamilyFilters;
  filter: Filter;
  groupBy: readonly PaymentGrouping[];
  measures: readonly Measure[];
  /** A grouping, `payments`, `rows` or a measure; without it: dates ascending, else the first sum descending. */
  orderBy: string | undefined;
  order: "asc" | "desc" | undefined;
  limit: number;
  offset: number;
  topRows: number;
  topOrder: "largest" | "smallest";
};

const DATE_TYPES: readonly FieldType[] = ["date", "datetime"];
const NUMBER_TYPES: readonly FieldType[] = ["money", "number", "integer"];

/** Returns the field by whose values rows are ranked: the first measured one that has a size, else the amount. */
export const findRankedField = ({ source, measures }: PaymentSummary): string => {
  const sized = [...NUMBER_TYPES, ...DATE_TYPES];
  const measured = measures.find(({ field }) => field !== undefined && sized.includes(field.type));
  return measured?.field?.name ?? SUMMED_AMOUNT[source];
};

/** Returns the name of a measure, such as `sum(paymentAmount)`. */
export const formatMeasure = ({ op, field }: Measure): string =>
  field === undefined ? op : `${op}(${field.name})`;

type Measured = Pick<PaymentSummary, "source" | "measures">;

/** Describes payments that belong to several groups. Amounts of lines do not repeat in the groups. */
const describeShared = ({ measures }: Measured, payments: number): string[] => {
  if (payments === 0) return [];
  const repeated = measures.filter(
    ({ op, field }) => op === "sum" && field !== undefined && isPaymentAmount(field),
  );
  const subject = payments === 1 ? "1 payment belongs" : `${payments} payments belong`;
  const sums = repeated.map(formatMeasure).join(" and ");
  const amounts = sums === "" ? "" : `; amounts of such payments repeat in ${sums}`;
  return [
    `${subject} to several groups: each of these counts ${payments === 1 ? "it" : "them"} once, so the items add up to more payments than there are${amounts}.`,
  ];
};

/** Names the amount of the totals, unless the items have the same sum. */
const describeTotals = ({ source, measures }: Measured): string[] => {
  const total = `sum(${SUMMED_AMOUNT[source]})`;
  return measures.some((measure) => formatMeasure(measure) === total)
    ? []
    : [`The amounts in currencyTotals are ${total}.`];
};

/** Returns the notes about a summary's figures; `shared` counts the payments that belong to several groups. */
export const describeFigures = (
  summary: Measured,
  { rowCount, shared }: { rowCount: number; shared: number },
): string[] =>
  rowCount === 0 ? [] : [...describeShared(summary, shared), ...describeTotals(summary)];

type Refuse = (field: string, code: string, message: string) => undefined;

const MEASURED_TYPES: Partial<Record<MeasureOp, readonly FieldType[]>> = {
  sum: NUMBER_TYPES,
  avg: NUMBER_TYPES,
  min: [...NUMBER_TYPES, ...DATE_TYPES],
  max: [...NUMBER_TYPES, ...DATE_TYPES],
};

const findGrouping = (
  source: Source,
  name: string,
  refuse: (code: string, message: string) => undefined,
): PaymentGrouping | undefined => {
  const account = isFamilyGrouping(name) ? findField(source, ACCOUNT_FIELD) : undefined;
  if (isFamilyGrouping(name) && account !== undefined)
    return { name, field: account, unit: undefined, family: name };
  const [fieldName = "", word, ...rest] = name.split(":");
  const field = findField(source, fieldName);
  if (field === undefined) {
    const unit = UNITS.find((one) => name.toLowerCase().endsWith(one));
    return unit === undefined
      ? refuse("unknown", describeUnknownField(source, fieldName))
      : refuse("unknown", `is not a field of ${source}; a date is grouped as paymentDate:${unit}`);
  }
  if (word === undefined) return { name, field, unit: undefined };
  const unit = UNITS.find((one) => one === word);
  if (!DATE_TYPES.includes(field.type) || rest.length > 0) {
    const dates = CATALOGUE[source].fields.filter(({ type }) => DATE_TYPES.includes(type));
    const known = dates.map((date) => date.name).join(", ");
    return refuse("format", `names a span of time, which only dates have: ${known}`);
  }
  if (unit === undefined) {
    return refuse("enum", `must end with a known span of time${describeKnown(word, UNITS)}`);
  }
  return { name, field, unit };
};

const findMeasure = (
  source: Source,
  { op: word, field: name }: z.output<typeof MeasureBody>,
  refuse: Refuse,
): Measure | undefined => {
  const op = MEASURE_OPS.find((one) => one === word) ?? "count";
  if (name === undefined) {
    if (op === "count") return { op, field: undefined };
    return refuse("field", "required", `is required, such as ${MEASURES_EXAMPLE}`);
  }
  const field = findField(source, name);
  if (field === undefined) return refuse("field", "unknown", describeUnknownField(source, name));
  const types = MEASURED_TYPES[op];
  if (types === undefined || types.includes(field.type)) return { op, field };
  const known = CATALOGUE[source].fields.filter(({ type }) => types.includes(type));
  const names = known.map((one) => one.name).join(", ");
  return refuse("field", "type", `has no ${op}; fields that have one: ${names}`);
};

const defaultMeasures = (source: Source): Measure[] => [
  { op: "count", field: undefined },
  { op: "sum", field: findField(source, SUMMED_AMOUNT[source]) },
];

/** Resolves the names of groupings and measures, and collects a fault for each that is wrong. */
const resolveNames = (source: Source, sent: z.output<typeof PaymentSummaryBody>) => {
  const faults: Fault[] = [];
  const refuseAt =
    (at: string): Refuse =>
    (field, code, message) => {
      faults.push({ field: field === "" ? at : `${at}.${field}`, code, message });
      return undefined;
    };
  const groupBy = [...new Set(sent.groupBy)].map((name, place) => {
    const refuse = refuseAt(`groupBy[${place}]`);
    return findGrouping(source, name, (code, message) => refuse("", code, message));
  });
  const measures = sent.measures?.map((one, place) =>
    findMeasure(source, one, refuseAt(`measures[${place}]`)),
  );
  return {
    faults,
    groupBy: groupBy.filter((one) => one !== undefined),
    measures: measures?.filter((one) => one !== undefined) ?? defaultMeasures(source),
  };
};

const isUnique = (measure: Measure, place: number, all: readonly Measure[]): boolean =>
  all.findIndex((one) => formatMeasure(one) === formatMeasure(measure)) === place;

/** Validates the arguments of a payment summary against the catalogue; days are those of the run's calendar. */
export const parsePaymentSummary = (
  body: unknown,
  { calendar, now }: RunDay = { calendar: utcCalendar, now: 0 },
): Checked<PaymentSummary> => {
  const { value, faults } = parseArguments(PaymentSummaryBody, body);
  if (value === undefined) return { faults };
  const { source, filters: sent = {}, orderBy: word, order, limit, offset } = value;
  const { topRows, topOrder, parentAccountNumber, accountGroup } = value;
  if (!isSource(source)) return { faults: [] };
  const filters = placeRelativeDays(source, sent, { calendar, now }) as typeof sent;
  const resolved = resolveNames(source, value);
  const placed = placeDays(dateTypesOf(source), filters, calendar);
  const { filter, faults: inFilter } = parseFilter(source, placed);
  const groupBy = resolved.groupBy;
  const measures = resolved.measures.filter(isUnique);
  const measured = measures.filter(({ field }) => field !== undefined).map(formatMeasure);
  const names = groupBy.map(({ name }) => name);
  const orderBy = chooseOrder([...names, "payments", "rows", ...measured], word);
  const all = [...resolved.faults, ...inFilter, ...(orderBy.faults ?? [])];
  if (all.length > 0) return { faults: all };
  const families = { parentAccountNumber, accountGroup };
  const rest = { families, order, limit, offset, topRows, topOrder, orderBy: orderBy.value };
  return { value: { source, filters, placed, filter, groupBy, measures, ...rest } };
};

const figures = z.record(z.string(), ExactNumber.nullable()).optional();
const extremes = z.record(z.string(), z.union([z.string(), z.number()]).nullable()).optional();
const counts = z.record(z.string(), z.int()).optional();

export const PaymentSummaryItem = z.object({
  key: GroupKey,
  currencyCode: z.string().nullable(),
  payments: z.int().meta({ description: "a payment has one row per document it pays" }),
  rows: z.int(),
  sum: figures,
  avg: figures.meta({ description: "rounded to 6 decimals" }),
  min: extremes,
  max: extremes,
  count: counts.meta({ description: "rows that have a value" }),
  countDistinct: counts,
});
export type PaymentSummaryItem = z.infer<typeof PaymentSummaryItem>;

export const PaymentFigures = z.object({
  topRows: z
    .array(z.record(z.string(), z.unknown()))
    .optional()
    .meta({ description: "rows with the largest or smallest values, without nulls" }),
});

export const PaymentSummaryResult = insightResult(PaymentSummaryItem, PaymentFigures.shape);
export type PaymentSummaryResult = z.infer<typeof PaymentSummaryResult>;
