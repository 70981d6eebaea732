import Big from "big.js";
import {
  describeFigures,
  findRankedField,
  formatMeasure,
  type Measure,
  parsePaymentSummary,
  type PaymentGrouping,
  type PaymentSummary,
  SUMMED_AMOUNT,
} from "../../../contract/insights/payment-summary.ts";
import {
  type CurrencyTotal,
  type ExactNumber,
  type GroupKey,
  toExactNumber,
} from "../../../contract/insights/result.ts";
import type { Contract } from "../../../contract/index.ts";
import { openCalendar } from "../../../contract/insights/calendar.ts";
import { CATALOGUE, findField } from "../../../contract/payments/catalogue.ts";
import type { Field } from "../../../contract/payments/field.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import { type TimeZone, UTC } from "../../../kit/time-zone.ts";
import type { Handlers } from "../../handlers.ts";
import { getDialect, type Value } from "../../store/engine/dialect.ts";
import { findLastSeq, readRowObjects } from "../../store/queries/payments.ts";
import {
  findExtremeRows,
  selectRows,
  summarizePayments,
  type SummaryRow,
} from "../../store/queries/payments/summary.ts";
import type { Db } from "../../store/port.ts";
import { listOffsets } from "../../store/queries/summaries/offsets.ts";
import { readTenant } from "../../store/queries/tenants.ts";

type ParseTotal = (text: string) => string;

const AVERAGE_DECIMALS = 6;

const parseSum = (text: Value | undefined, parse: ParseTotal): Big | null =>
  typeof text === "string" ? new Big(parse(text)) : null;

const toExact = (sum: Big | null): ExactNumber => toExactNumber((sum ?? new Big(0)).toFixed());

const average = (sum: Big | null, count: Value | undefined): ExactNumber | null =>
  sum === null || !count
    ? null
    : toExactNumber(sum.div(Number(count)).round(AVERAGE_DECIMALS).toFixed());

const readFigure = (row: SummaryRow, { op }: Measure, place: number, parse: ParseTotal) => {
  const value = row[`f${place}`] ?? null;
  if (op === "sum") return toExact(parseSum(value, parse));
  return op === "avg" ? average(parseSum(value, parse), row[`c${place}`]) : value;
};

const toKeyValue = ({ type }: Field, value: Value): string | number | boolean | null =>
  type === "boolean" && value !== null ? value === 1 : value;

const toKey = (row: SummaryRow, groupBy: readonly PaymentGrouping[]): GroupKey =>
  Object.fromEntries(
    groupBy.map(({ name, field }, place) => [name, toKeyValue(field, row[`k${place}`] ?? null)]),
  );

const toItem = (row: SummaryRow, { groupBy, measures }: PaymentSummary, parse: ParseTotal) => {
  const figures: Record<string, Record<string, unknown>> = {};
  for (const [place, measure] of measures.entries()) {
    if (measure.field === undefined) continue;
    (figures[measure.op] ??= {})[measure.field.name] = readFigure(row, measure, place, parse);
  }
  const { currency: currencyCode, payments, row_count: rows } = row;
  return { key: toKey(row, groupBy), currencyCode, payments, rows, ...figures };
};

/** Adds the sum of the source's amount, which the totals of currencies show. */
const withAmount = (summary: PaymentSummary): { measures: readonly Measure[]; at: number } => {
  const { source, measures } = summary;
  const amount: Measure = { op: "sum", field: findField(source, SUMMED_AMOUNT[source]) };
  const at = measures.findIndex((one) => formatMeasure(one) === formatMeasure(amount));
  return at === -1 ? { measures: [...measures, amount], at: measures.length } : { measures, at };
};

const compareCodes = (a: string | null, b: string | null): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : Number(a > b);
};

const compareTotals = (a: CurrencyTotal, b: CurrencyTotal): number =>
  new Big(b.amount).cmp(a.amount) || compareCodes(a.currencyCode, b.currencyCode);

const readTopRows = async (
  db: Db,
  tenantId: string,
  summary: PaymentSummary,
  where: Parameters<typeof summarizePayments>[1],
): Promise<{ topRows?: Record<string, unknown>[] }> => {
  if (summary.topRows === 0) return {};
  const { source } = summary;
  const seqs = await findExtremeRows(db, where, summary, findRankedField(summary));
  const fields = CATALOGUE[source].fields.filter(({ core }) => core);
  const rows = await readRowObjects(db, { tenantId, source, fields }, seqs);
  const withoutNulls = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
  );
  return { topRows: withoutNulls };
};

type Read = { summary: PaymentSummary; tenantId: string; now: number; zone: TimeZone };

/** Payments have no date-times before. */
const EPOCH = 0;

const read = async (db: Db, { summary, tenantId, now, zone }: Read) => {
  const { source, filters, families } = summary;
  const where = await selectRows(db, tenantId, summary, await findLastSeq(db, tenantId, source));
  const { measures, at } = withAmount(summary);
  const hasTimes = summary.groupBy.some(({ field }) => field.type === "datetime");
  const offsets = await listOffsets(hasTimes ? zone : UTC, EPOCH, now);
  const rows = await summarizePayments({ db, tenantId }, where, summary, { measures, offsets });
  const groups = rows.filter((row) => row.is_total === 0);
  const totals = rows.filter((row) => row.is_total === 1);
  const { parse } = getDialect(db).sums;
  const toTotal = (row: SummaryRow): CurrencyTotal => ({
    currencyCode: row.currency,
    count: row.payments,
    amount: toExact(parseSum(row[`f${at}`], parse)),
  });
  const rowCount = totals.reduce((sum, row) => sum + row.row_count, 0);
  return {
    asOf: formatTimestamp(now),
    filter: { source, ...filters, ...families, timeZone: zone.name },
    rowCount,
    truncated: false,
    currencyTotals: totals.map(toTotal).toSorted(compareTotals),
    itemsTotal: groups[0]?.groups ?? 0,
    notes: describeFigures(summary, { rowCount, shared: totals[0]?.shared ?? 0 }),
    items: groups.map((row) => toItem(row, summary, parse)),
    ...(await readTopRows(db, tenantId, summary, where)),
  };
};

/** Counts and adds up the payments of one source, in groups. */
export const summarize: Handlers<Contract["payments"]>["summary"] = async ({ body }, call) => {
  const { tenantId, now } = call;
  const { settings } = await readTenant(call.db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  const { value: summary, faults } = parsePaymentSummary(body, { calendar, now });
  if (summary === undefined) return call.invalid(faults);
  const { zone } = calendar;
  await using snapshot = await call.snapshot({ aggregates: true });
  return { body: await read(snapshot.db, { summary, tenantId, now, zone }) };
};
