import { z } from "zod";
import type { Conversation, Question } from "../conversation.ts";
import { Amount, CurrencyTotals, formatMoney, formatTotals } from "../wording.ts";

const DAY = 86_400_000;

type Month = { from: string; to: string; name: string };

/** Returns the first and the last day of the month before `now`, in UTC. */
const lastMonth = (now: Date): Month => {
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) - DAY);
  const [from, to] = [first, last].map((day) => day.toISOString().slice(0, 10)) as [string, string];
  return { from, to, name: from.slice(0, 7) };
};

const DisputeSummary = z.object({
  rowCount: z.int(),
  currencyTotals: CurrencyTotals,
  avgDaysToClose: z.number().nullable(),
  items: z.array(
    z.object({
      key: z.record(z.string(), z.unknown()),
      currencyCode: z.string().nullable(),
      count: z.int(),
      amount: Amount,
      avgDaysToClose: z.number().nullish(),
    }),
  ),
});

/** Returns a table of the groups with their number of disputes and amount. */
const tabulate = ({ items }: z.infer<typeof DisputeSummary>, head: string, name: string) => ({
  head: [head, "Disputes", "Amount"],
  numeric: [1, 2],
  rows: items.map(({ key, count, amount, currencyCode }) => [
    String(key[name]),
    count,
    formatMoney(amount, currencyCode),
  ]),
});

const openedByReason = (month: Month): Question => ({
  question: `What was disputed in ${month.name}, and why?`,
  async answer(session) {
    const summary = await session.call(
      "disputes_summary",
      { createdFrom: month.from, createdTo: month.to, groupBy: ["reason"], limit: 8 },
      DisputeSummary,
    );
    return [
      `${summary.rowCount} disputes were opened, over ${formatTotals(summary.currencyTotals)}. The largest groups:`,
      tabulate(summary, "Reason", "reason"),
    ];
  },
});

const closedByResolution = (month: Month): Question => ({
  question: "How were disputes closed that month, and how long did it take?",
  async answer(session) {
    const summary = await session.call(
      "disputes_summary",
      {
        status: "Closed",
        closedFrom: month.from,
        closedTo: month.to,
        groupBy: ["resolution", "valid"],
      },
      DisputeSummary,
    );
    const valid = summary.items
      .filter(({ key }) => key["valid"] === true)
      .reduce((sum, { count }) => sum + count, 0);
    return [
      `${summary.rowCount} were closed, ${valid} of them as valid, after ${summary.avgDaysToClose ?? 0} days on average.`,
      {
        head: ["Resolution", "Valid", "Disputes", "Amount", "Days to close"],
        numeric: [2, 3, 4],
        rows: summary.items.map(({ key, count, amount, currencyCode, avgDaysToClose }) => [
          String(key["resolution"] ?? "none"),
          key["valid"] === true ? "yes" : "no",
          count,
          formatMoney(amount, currencyCode),
          avgDaysToClose ?? "",
        ]),
      },
    ];
  },
});

const Aging = z.object({
  rowCount: z.int(),
  items: z.array(
    z.object({
      key: z.record(z.string(), z.unknown()),
      currencyCode: z.string().nullable(),
      count: z.int(),
      amount: Amount,
      disputedAmount: Amount,
    }),
  ),
});

const aging: Question = {
  question: "How old are our receivables, and how much of them is disputed?",
  async answer(session) {
    const summary = await session.call("documents_summary", { groupBy: ["age"] }, Aging);
    return [
      `${summary.rowCount} documents are open.`,
      {
        head: ["Days past due", "Documents", "Open", "Disputed"],
        numeric: [1, 2, 3],
        rows: summary.items.map(({ key, count, amount, disputedAmount, currencyCode }) => [
          String(key["age"]),
          count,
          formatMoney(amount, currencyCode),
          formatMoney(disputedAmount, currencyCode),
        ]),
      },
    ];
  },
};

const PaymentSummary = z.object({
  items: z.array(
    z.object({
      key: z.record(z.string(), z.unknown()),
      currencyCode: z.string().nullable(),
      payments: z.int(),
      sum: z.record(z.string(), Amount.nullable()),
    }),
  ),
});

const openAtTheEnd = (month: Month): Question => ({
  question: `What was open at the end of ${month.name}, and since when?`,
  async answer(session) {
    const summary = await session.call(
      "disputes_summary",
      { status: "Open", asOf: month.to, groupBy: ["age"] },
      DisputeSummary,
    );
    return [
      `${summary.rowCount} disputes, over ${formatTotals(summary.currencyTotals)}:`,
      tabulate(summary, "Days open", "age"),
    ];
  },
});

const deductions = (month: Month): Question => ({
  question: "What did customers hold back from that month's payments, and why?",
  async answer(session) {
    const summary = await session.call(
      "payments_summarize",
      {
        source: "cashapp",
        filters: { paymentDate: { between: [month.from, month.to] }, shortPay: { eq: true } },
        groupBy: ["deductionReasonCode"],
        measures: [{ op: "sum", field: "deductionAmount" }],
        limit: 8,
      },
      PaymentSummary,
    );
    return [
      {
        head: ["Reason", "Payments", "Deducted"],
        numeric: [1, 2],
        rows: summary.items.map(({ key, payments, sum, currencyCode }) => [
          String(key["deductionReasonCode"] ?? "none"),
          payments,
          formatMoney(sum["deductionAmount"] ?? 0, currencyCode),
        ]),
      },
    ];
  },
});

/** A report about the month before `now`. */
export const createMonthEnd = (now: Date): Conversation => {
  const month = lastMonth(now);
  return {
    title: "Month-end report",
    questions: [
      openedByReason(month),
      closedByResolution(month),
      openAtTheEnd(month),
      aging,
      deductions(month),
    ],
  };
};
