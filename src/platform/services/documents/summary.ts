import Big from "big.js";
import type { Contract } from "../../../contract/index.ts";
import { listOverdueKeys, openCalendar } from "../../../contract/insights/calendar.ts";
import {
  type DocumentSummary,
  type DocumentSummaryItem,
  type DocumentSummaryResult,
  parseDocumentSummary,
} from "../../../contract/insights/document-summary.ts";
import { describeBases } from "../../../contract/insights/past-balances.ts";
import {
  type ExactNumber,
  type GroupKey,
  toExactNumber,
} from "../../../contract/insights/result.ts";
import { formatTimestamp } from "../../../kit/clock.ts";
import type { Handlers } from "../../handlers.ts";
import { getDialect } from "../../store/engine/dialect.ts";
import {
  type Context,
  type DocumentGroupRow,
  parseFirstDue,
  selectDocuments,
  summarizeDocuments,
} from "../../store/queries/summaries/documents.ts";
import { BASES } from "../../store/queries/summaries/past-documents.ts";
import { readReopened } from "../../store/queries/summaries/reopened.ts";
import type { Db } from "../../store/port.ts";
import { createLimitQueries, type OverLimitRow } from "../../store/queries/summaries/over-limit.ts";
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

const NOTES = {
  originalAmount: "Amounts are those that were billed, not open balances.",
  closed: "The balance of a closed document is 0; measure originalAmount adds up what was billed.",
};

const countBases = (totals: readonly DocumentGroupRow[]): number[] =>
  BASES.map((_, place) =>
    totals.reduce((sum, row) => {
      const counted = row[`basis${place}`] ?? (place === 0 ? row.count : 0);
      return sum + Number(counted);
    }, 0),
  );

const describe = (
  { past, summary: { filters, measure } }: Context,
  totals: readonly DocumentGroupRow[],
): string[] => [
  ...(past === undefined ? [] : describeBases(countBases(totals))),
  ...(measure === "originalAmount" ? [NOTES.originalAmount] : []),
  ...(measure === "balance" && filters.status === "closed" ? [NOTES.closed] : []),
];

const readAmounts = ({ db }: Context) => {
  const { parse } = getDialect(db).sums;
  return (text: string | null): ExactNumber =>
    toExactNumber(text === null ? "0" : new Big(parse(text)).toFixed());
};

type ToAmount = ReturnType<typeof readAmounts>;

const toFigures = (row: DocumentGroupRow, toAmount: ToAmount) => ({
  currencyCode: row.currency,
  count: row.count,
  amount: toAmount(row.amount),
  disputedAmount: toAmount(row.disputed),
  oldest: parseFirstDue(row.first_due),
});

/** The fields that the answers to all questions have. */
const toCommon = (
  { summary, asOf, calendar }: Context,
  totals: readonly DocumentGroupRow[],
  toAmount: ToAmount,
) => ({
  asOf: summary.filters.asOf ?? formatTimestamp(asOf),
  filter: { ...summary.filters, timeZone: calendar.zone.name },
  rowCount: totals.reduce((sum, { count }) => sum + count, 0),
  truncated: false,
  currencyTotals: totals.map(({ currency, count, amount }) => ({
    currencyCode: currency,
    count,
    amount: toAmount(amount),
  })),
});

/** Lists the accounts whose families owe more than the credit limit. */
const readOverLimit = async (context: Context): Promise<DocumentSummaryResult> => {
  const { db, tenantId } = context;
  const toAmount = readAmounts(context);
  const limits = await createLimitQueries(context, await selectDocuments(context));
  const rows = await limits.readPage();
  const names = await readAccountNames(db, tenantId, ["account"], rows);
  const owed = Map.groupBy(await limits.readOwed(rows.map(({ k0 }) => k0)), ({ k0 }) => k0);
  const toItem = (row: OverLimitRow): DocumentSummaryItem => {
    const figures = toFigures(row, toAmount);
    const others = (owed.get(row.k0) ?? []).filter(({ currency }) => currency !== row.currency);
    const otherCurrencies = others.map(({ currency, count, amount }) => ({
      currencyCode: currency,
      count,
      amount: toAmount(amount),
    }));
    return {
      key: { account: row.k0 },
      ...toAccountName(names.get(row.k0)),
      ...figures,
      creditLimit: row.credit_limit,
      overBy: toExactNumber(new Big(figures.amount).minus(row.credit_limit).toFixed()),
      ...(otherCurrencies.length === 0 ? {} : { otherCurrencies }),
    };
  };
  return {
    ...toCommon(context, await limits.readTotals(), toAmount),
    itemsTotal: rows[0]?.groups ?? 0,
    notes: [],
    items: rows.map(toItem),
  };
};

const readGroups = async (context: Context): Promise<DocumentSummaryResult> => {
  const { db, tenantId, summary } = context;
  const { groupBy, ageBuckets, limit, offset } = summary;
  const toAmount = readAmounts(context);
  const inAges = groupBy.length === 1 && groupBy[0] === "age";
  const matched = await selectDocuments(context);
  const read = await summarizeDocuments(context, matched, inAges ? undefined : summary);
  const { totals, groups: rows } = read;
  const names = await readAccountNames(db, tenantId, groupBy, rows);
  const found = rows.map((row): DocumentSummaryItem => ({
    key: toKey(summary, row),
    ...toAccountName(names.get(row[`k${groupBy.indexOf("account")}`])),
    ...toFigures(row, toAmount),
  }));
  const all = inAges
    ? completeBuckets(found, "age", listOverdueKeys(ageBuckets), summary, NO_FIGURES)
    : found;
  return {
    ...toCommon(context, totals, toAmount),
    itemsTotal: inAges ? all.length : totals.reduce((sum, row) => sum + row.groups, 0),
    notes: describe(context, totals),
    items: inAges ? all.slice(offset, offset + limit) : all,
  };
};

const readPast = async (
  db: Db,
  tenantId: string,
  { at, calendar }: Pick<Context, "calendar"> & { at: number },
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
  const context = { db, tenantId, currency, asOf, calendar, summary, ...past };
  const isOverLimit = summary.filters.overLimit === true;
  return { body: await (isOverLimit ? readOverLimit(context) : readGroups(context)) };
};
