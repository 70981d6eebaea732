import type { z } from "zod";
import { contract } from "../contract/index.ts";
import type { FamilyFilters } from "../contract/insights/families.ts";
import {
  ACCOUNT_FIELD,
  describeFigures,
  findRankedField,
  parsePaymentSummary,
  PAYMENT_ID,
  type PaymentSummary,
  PaymentFigures,
  PaymentSummaryBody,
  PaymentSummaryItem,
  SUMMED_AMOUNT,
} from "../contract/insights/payment-summary.ts";
import type { CurrencyTotal } from "../contract/insights/result.ts";
import { findField } from "../contract/payments/catalogue.ts";
import { formatTimestamp } from "../kit/clock.ts";
import { createFamiliesOf, createFamilyFilter, type Families, isCut } from "./families.ts";
import { createNumbering } from "./groups.ts";
import {
  acceptParsed,
  callSummaryPage,
  canSummarize,
  defineInsight,
  type InsightContext,
  type InsightResult,
  mostItems,
} from "./insight.ts";
import { createPaymentGroups, listItems, type PaymentGroups } from "./payment-groups.ts";
import type { Row } from "./payment-measures.ts";
import { readPayments } from "./read-payments.ts";
import { respellArguments } from "./spellings.ts";
import { createTopRows, readTopRows } from "./top-rows.ts";

const ROW_ID = "id";
const CURRENCY = "currencyCode";

/** Numbers the payment of each row; a row without a payment id is a payment of its own. */
const createPaymentNumbers = (paymentId: string): ((row: Row) => number) => {
  const numberOf = createNumbering();
  return (row) => numberOf(row[paymentId] ?? Symbol("payment"));
};

const listFields = (
  { groupBy, measures, source, topRows }: PaymentSummary,
  families: Families | undefined,
): string[] => {
  const measured = measures.flatMap(({ field }) => field?.name ?? []);
  const accounts = families === undefined ? [] : [ACCOUNT_FIELD];
  const always = [PAYMENT_ID[source], CURRENCY, SUMMED_AMOUNT[source], ...accounts];
  const grouped = groupBy.map(({ field }) => field.name);
  return [...new Set([...always, ...grouped, ...measured, ...(topRows > 0 ? [ROW_ID] : [])])];
};

const toCurrencyTotals = async (totals: PaymentGroups, field: string): Promise<CurrencyTotal[]> => {
  const groups = { limit: totals.index.size, orderBy: undefined, order: undefined };
  const items = await listItems(totals, groups);
  return items.map(({ currencyCode, payments, sum }) => ({
    currencyCode,
    count: payments,
    amount: sum?.[field] ?? 0,
  }));
};

/** Creates the choice of the rows whose account belongs to what is asked for; it reads the accounts first. */
const createMatching = (families: Families | undefined, filters: FamilyFilters) => {
  const belongs = createFamilyFilter(families, filters);
  const accountOf = ({ [ACCOUNT_FIELD]: number }: Row): string | null =>
    typeof number === "string" ? number : null;
  return async (rows: readonly Row[]): Promise<readonly Row[]> => {
    if (families === undefined) return rows;
    await families.read(rows.flatMap((row) => accountOf(row) ?? []));
    return rows.filter((row) => belongs(accountOf(row)));
  };
};

/** Adds up every payment row of the query, read in pages. */
const summarizePages = async (
  context: InsightContext,
  summary: PaymentSummary,
): Promise<InsightResult> => {
  const { source, filters, placed, groupBy, measures } = summary;
  const asOf = formatTimestamp(context.now());
  const amount = SUMMED_AMOUNT[source];
  const { calendar } = context;
  const names = groupBy.map(({ name }) => name);
  const families = createFamiliesOf(context, summary.families, names);
  const groups = createPaymentGroups(groupBy, measures, { calendar, families });
  const summed = { op: "sum", field: findField(source, amount) } as const;
  const totals = createPaymentGroups([], [summed], { calendar });
  const numberOf = createPaymentNumbers(PAYMENT_ID[source]);
  const top = createTopRows(summary, findRankedField(summary));
  let rowCount = 0;
  const matching = createMatching(families, summary.families);
  const { stopped } = await readPayments(
    context,
    { source, filters: placed, fields: listFields(summary, families) },
    async (rows) => {
      for (const row of await matching(rows)) {
        rowCount += 1;
        const payment = numberOf(row);
        groups.add(row, payment);
        totals.add(row, payment);
        top.add(row);
      }
    },
  );
  return {
    asOf,
    filter: { source, ...filters, ...summary.families },
    rowCount,
    truncated: stopped !== undefined || isCut(families, summary.families),
    currencyTotals: await toCurrencyTotals(totals, amount),
    itemsTotal: groups.index.size,
    notes: [
      ...(stopped === undefined ? [] : [stopped]),
      ...describeFigures(summary, { rowCount, shared: groups.payments.shared }),
      ...(families?.notes() ?? []),
    ],
    ...(summary.topRows === 0 ? {} : { topRows: await readTopRows(context, summary, top.ids()) }),
    items: await listItems(groups, summary),
  };
};

const SummarizeBody = PaymentSummaryBody.omit({ offset: true });

const summarize = async (
  context: InsightContext,
  args: z.output<typeof SummarizeBody>,
): Promise<InsightResult> => {
  const summaryArgs = { ...args, offset: context.skip };
  const run = { calendar: context.calendar, now: context.now() };
  const parsed = acceptParsed(parsePaymentSummary(summaryArgs, run));
  const summary = { ...parsed, limit: mostItems(context, parsed.limit) };
  const { payments } = contract;
  const { orderBy, filters } = summary;
  // The platform may not know days relative to the run.
  const placed = args.filters === undefined ? args : { ...args, filters };
  const result = canSummarize(context, payments.summary, args)
    ? await callSummaryPage(context, payments.summary, { ...placed, orderBy })
    : undefined;
  return result ?? summarizePages(context, summary);
};

export const paymentsSummarize = defineInsight({
  name: "payments_summarize",
  title: "Summarize payments",
  input: SummarizeBody,
  figures: PaymentFigures,
  item: PaymentSummaryItem,
  needs: [contract.payments.query],
  async run(context, args) {
    const result = await summarize(context, args);
    if (result.rowCount > 0 || args.filters === undefined) return result;
    const [respelt] = await respellArguments(context, args);
    return respelt === undefined ? result : summarize(context, { ...args, ...respelt });
  },
});
