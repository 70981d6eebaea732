import Big from "big.js";
import type { Contract } from "../../../contract/index.ts";
import {
  type Calendar,
  listOverdueKeys,
  openCalendar,
} from "../../../contract/insights/calendar.ts";
import {
  type DocumentSummary,
  type DocumentSummaryItem,
  type DocumentSummaryResult,
  parseDocumentSummary,
} from "../../../contract/insights/document-summary.ts";
import { describeBases } from "../../../contract/insights/past-balances.ts";
import { type GroupKey, toExactNumber } from "../../../contract/insights/result.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import type { Handlers } from "../../handlers.ts";
import { getDialect } from "../../store/engine/dialect.ts";
import {
  type DocumentGroupRow,
  parseFirstDue,
  selectDocuments,
  summarizeDocuments,
} from "../../store/queries/summaries/documents.ts";
import { BASES } from "../../store/queries/summaries/past-documents.ts";
import { readReopened } from "../../store/queries/summaries/reopened.ts";
import type { Db } from "../../store/port.ts";
import { readTenant } from "../../store/queries/tenants.ts";
import { completeBuckets, readAccountNames, toAccountName } from "../summary-items.ts";

const toKey = ({ groupBy, ageBuckets }: DocumentSummary, row: DocumentGroupRow): GroupKey =>
  Object.fromEntries(
    groupBy.map((name, place) => {
      const value = row[`k${place}`] ?? null;
      return [name, name === "age" ? (listOverdueKeys(ageBuckets)[Number(value)] ?? null) : value];
    }),
  );

const NO_FIGURES = { count: 0, amount: 0, disputedAmount: 0, oldest: null };

const countBases = (totals: readonly DocumentGroupRow[]): number[] =>
  BASES.map((_, place) => totals.reduce((sum, row) => sum + Number(row[`basis${place}`] ?? 0), 0));

type Context = Parameters<typeof summarizeDocuments>[0];

const read = async (context: Context): Promise<DocumentSummaryResult> => {
  const { db, tenantId, summary, asOf, calendar } = context;
  const { filters, groupBy, ageBuckets, limit, offset } = summary;
  const matched = await selectDocuments(context);
  const { parse } = getDialect(db).sums;
  const toAmount = (text: string | null) =>
    toExactNumber(text === null ? "0" : new Big(parse(text)).toFixed());
  const whole = { ...summary, groupBy: [], orderBy: undefined, order: undefined };
  const totals = await summarizeDocuments({ ...context, summary: whole }, matched);
  const inAges = groupBy.length === 1 && groupBy[0] === "age";
  const rows = await summarizeDocuments(context, matched, inAges ? undefined : summary);
  const names = await readAccountNames(db, tenantId, groupBy, rows);
  const found = rows.map((row): DocumentSummaryItem => ({
    key: toKey(summary, row),
    ...toAccountName(names.get(row[`k${groupBy.indexOf("account")}`])),
    currencyCode: row.currency,
    count: row.count,
    amount: toAmount(row.amount),
    disputedAmount: toAmount(row.disputed),
    oldest: parseFirstDue(row.first_due),
  }));
  const all = inAges
    ? completeBuckets(found, "age", listOverdueKeys(ageBuckets), summary, NO_FIGURES)
    : found;
  return {
    asOf: filters.asOf ?? formatTimestamp(asOf),
    filter: { ...filters, timeZone: calendar.zone.name },
    rowCount: totals.reduce((sum, { count }) => sum + count, 0),
    truncated: false,
    itemsTotal: inAges ? all.length : (rows[0]?.groups ?? 0),
    currencyTotals: totals.map(({ currency, count, amount }) => ({
      currencyCode: currency,
      count,
      amount: toAmount(amount),
    })),
    notes: context.past === undefined ? [] : describeBases(countBases(totals)),
    items: inAges ? all.slice(offset, offset + limit) : all,
  };
};

const readPast = async (
  db: Db,
  tenantId: string,
  { at, calendar }: { at: number; calendar: Calendar },
): Promise<Pick<Context, "past">> => {
  const { ended } = await readReopened(db, tenantId, at);
  return { past: { at, day: calendar.formatDay(at), ended } };
};

/** Counts and adds up documents, in groups such as days past due. */
export const summarize: Handlers<Contract["documents"]>["summary"] = async ({ body }, call) => {
  const { value: summary, faults } = parseDocumentSummary(body);
  if (summary === undefined) return call.invalid(faults);
  const { tenantId, now } = call;
  const { currency, settings } = await readTenant(call.db, tenantId);
  const calendar = openCalendar(settings.timeZone);
  const day = summary.filters.asOf;
  const asOf = day === undefined ? now : calendar.endOf(day);
  await using snapshot = await call.snapshot({ aggregates: true });
  const { db } = snapshot;
  const past = asOf < now ? await readPast(db, tenantId, { at: asOf, calendar }) : undefined;
  return { body: await read({ db, tenantId, currency, asOf, calendar, summary, ...past }) };
};
