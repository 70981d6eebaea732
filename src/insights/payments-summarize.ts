import type { z } from "zod";
import { contract } from "../contract/index.ts";
import {
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
import { createNumbering } from "./groups.ts";
import {
  acceptParsed,
  callSummaryPage,
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

const listFields = ({ groupBy, measures, source, topRows }: PaymentSummary): string[] => {
  const measured = measures.flatMap(({ field }) => field?.name ?? []);
  const always = [PAYMENT_ID[source], CURRENCY, SUMMED_AMOUNT[source]];
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

/** Adds up every payment row of the query, read in pages. */
const summarizePages = async (
  context: InsightContext,
  summary: PaymentSummary,
): Promise<InsightResult> => {
  const { source, filters, placed, groupBy, measures } = summary;
  const asOf = formatTimestamp(context.now());
  const amount = SUMMED_AMOUNT[source];
  const { calendar } = context;
  const groups = createPaymentGroups(groupBy, measures, calendar);
  const summed = { op: "sum", field: findField(source, amount) } as const;
  const totals = createPaymentGroups([], [summed], calendar);
  const numberOf = createPaymentNumbers(PAYMENT_ID[source]);
  const top = createTopRows(summary, findRankedField(summary));
  const { rowCount, stopped } = await readPayments(
    context,
    { source, filters: placed, fields: listFields(summary) },
    (rows) => {
      for (const row of rows) {
        const payment = numberOf(row);
        groups.add(row, payment);
        totals.add(row, payment);
        top.add(row);
      }
    },
  );
  return {
    asOf,
    filter: { source, ...filters },
    rowCount,
    truncated: stopped !== undefined,
    currencyTotals: await toCurrencyTotals(totals, amount),
    itemsTotal: groups.index.size,
    notes: [
      ...(stopped === undefined ? [] : [stopped]),
      ...describeFigures(summary, { rowCount, shared: groups.payments.shared }),
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
  const parsed = acceptParsed(parsePaymentSummary(summaryArgs, context.calendar));
  const summary = { ...parsed, limit: mostItems(context, parsed.limit) };
  const { payments } = contract;
  const result = context.extensions.has(payments.summary.id)
    ? await callSummaryPage(context, payments.summary, { ...args, orderBy: summary.orderBy })
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
