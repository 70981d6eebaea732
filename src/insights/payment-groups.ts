import { type Calendar, formatSpan } from "../contract/insights/calendar.ts";
import {
  type Measure,
  type PaymentGrouping,
  type PaymentSummary,
  type PaymentSummaryItem,
} from "../contract/insights/payment-summary.ts";
import { mapInTurns } from "../kit/in-turns.ts";
import { InexactNumber } from "../kit/json.ts";
import { type Families, readFamilyKey } from "./families.ts";
import {
  byFigure,
  byLevel,
  byNumber,
  type Compare,
  createKeyIndex,
  createMembership,
  inTurn,
  type KeyIndex,
  type KeyValue,
  type Membership,
  type Page,
  selectPage,
} from "./groups.ts";
import {
  type Accumulator,
  collectFigures,
  createAccumulators,
  type Row,
} from "./payment-measures.ts";

const CURRENCY = "currencyCode";
const CURRENCY_LEVEL = 0;

type Read = (row: Row) => KeyValue;

const toKeyValue = (value: unknown): KeyValue => {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  return value instanceof InexactNumber ? value.source : JSON.stringify(value);
};

/** The days of date-times, and the parents of accounts if a grouping needs them. */
type Reading = { calendar: Calendar; families?: Families | undefined };

const createRead = (
  { field: { name }, unit, family }: PaymentGrouping,
  { calendar: { toDay }, families }: Reading,
): Read => {
  if (family !== undefined) {
    return ({ [name]: number }) =>
      readFamilyKey(families, family, typeof number === "string" ? number : null);
  }
  if (unit === undefined) return (row) => toKeyValue(row[name]);
  const spans = new Map<string, string>();
  return (row) => {
    const value = row[name];
    if (typeof value !== "string") return null;
    const known = spans.get(value);
    if (known !== undefined) return known;
    const span = formatSpan(toDay(value), unit);
    spans.set(value, span);
    return span;
  };
};

/** Payment rows in groups of one currency each. */
export type PaymentGroups = {
  index: KeyIndex;
  payments: Membership;
  accumulators: readonly Accumulator[];
  groupBy: readonly PaymentGrouping[];
  rows(group: number): number;
  /** Adds a row of a numbered payment. */
  add(row: Row, payment: number): void;
};

/** Creates groups by currency and by these groupings; date-times are in days of the calendar. */
export const createPaymentGroups = (
  groupBy: readonly PaymentGrouping[],
  measures: readonly Measure[],
  reading: Reading,
): PaymentGroups => {
  const reads: Read[] = [
    (row) => toKeyValue(row[CURRENCY]),
    ...groupBy.map((grouping) => createRead(grouping, reading)),
  ];
  const index = createKeyIndex(reads.length);
  const payments = createMembership();
  const accumulators = createAccumulators(measures);
  const counts: number[] = [];
  const values: KeyValue[] = reads.map(() => null);
  return {
    index,
    payments,
    accumulators,
    groupBy,
    rows: (group) => counts[group] ?? 0,
    add(row, payment) {
      for (let level = 0; level < reads.length; level += 1)
        values[level] = reads[level]?.(row) ?? null;
      const group = index.find(values);
      counts[group] = (counts[group] ?? 0) + 1;
      const slot = payments.slotOf(payment, group);
      for (const accumulator of accumulators) accumulator.add(group, row, slot);
    },
  };
};

type Ordering = Pick<PaymentSummary, "orderBy" | "order">;

const isDate = ({ field: { type } }: PaymentGrouping): boolean =>
  type === "date" || type === "datetime";

/** The default order: dates ascending, else the first sum descending, else the payments. */
const byDefault = (groups: PaymentGroups, order: Ordering["order"]): Compare[] => {
  const { index, groupBy, accumulators, payments } = groups;
  const dates = groupBy.flatMap((grouping, place) =>
    isDate(grouping) ? [byLevel(index, place + 1, order === "desc")] : [],
  );
  const sum = accumulators.find(({ op }) => op === "sum");
  const descending = dates.length > 0 || order !== "asc";
  return [
    ...dates,
    sum === undefined ? byNumber(payments.count, descending) : byFigure(sum, descending),
  ];
};

const byName = (groups: PaymentGroups, name: string, order: Ordering["order"]): Compare => {
  const { index, groupBy, accumulators, payments, rows } = groups;
  const place = groupBy.findIndex((grouping) => grouping.name === name);
  if (place >= 0) return byLevel(index, place + 1, order === "desc");
  const descending = order !== "asc";
  if (name === "rows") return byNumber(rows, descending);
  const measured = accumulators.find((accumulator) => accumulator.name === name);
  return measured === undefined
    ? byNumber(payments.count, descending)
    : byFigure(measured, descending);
};

const toItem = (groups: PaymentGroups, group: number): PaymentSummaryItem => {
  const { index, groupBy, payments, accumulators } = groups;
  const key = groupBy.map(({ name }, place) => [name, index.valueAt(place + 1, group)] as const);
  return {
    key: Object.fromEntries(key),
    currencyCode: index.valueAt(CURRENCY_LEVEL, group) as string | null,
    payments: payments.count(group),
    rows: groups.rows(group),
    ...collectFigures(accumulators, group),
  };
};

/** Returns a page of the groups as items. */
export const listItems = async (
  groups: PaymentGroups,
  { limit, offset = 0, ...ordering }: Ordering & Page,
): Promise<PaymentSummaryItem[]> => {
  const { index, groupBy } = groups;
  const { orderBy, order } = ordering;
  const first = orderBy === undefined ? byDefault(groups, order) : [byName(groups, orderBy, order)];
  const compare = inTurn(index, groupBy.length + 1, first);
  const chosen = await selectPage(index.size, { limit, offset }, compare);
  return mapInTurns(chosen, (group) => toItem(groups, group));
};
