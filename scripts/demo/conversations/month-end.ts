import { z } from "zod";
import { lastMonth, type Month } from "../calendar.ts";
import type { Conversation, Question } from "../conversation.ts";
import { Amount, CurrencyTotals, formatCount, formatMoney, formatTotals } from "../wording.ts";

const Aging = z.object({
  rowCount: z.int(),
  currencyTotals: CurrencyTotals,
  notes: z.array(z.string()),
  items: z.array(
    z.object({
      key: z.object({ age: z.string() }),
      currencyCode: z.string().nullable(),
      count: z.int(),
      amount: Amount,
      disputedAmount: Amount,
    }),
  ),
});

const owedAtTheEnd = (month: Month): Question => ({
  question: `What were we owed at the end of ${month.name}, how old was it, and how much was disputed?`,
  async answer(session) {
    const args = { asOf: month.to, groupBy: ["age"] };
    const { rowCount, currencyTotals, items, notes } = await session.call(
      "documents_summary",
      args,
      Aging,
    );
    return [
      `${formatCount(rowCount, "document")} were open, over ${formatTotals(currencyTotals)}:`,
      {
        head: ["Days past due", "Documents", "Open", "Disputed"],
        numeric: [1, 2, 3],
        rows: items.map(({ key, count, amount, disputedAmount, currencyCode }) => [
          key.age,
          count,
          formatMoney(amount, currencyCode),
          formatMoney(disputedAmount, currencyCode),
        ]),
      },
      ...notes,
    ];
  },
});

const Measures = z.object({
  notes: z.array(z.string()),
  items: z.array(
    z.object({
      currencyCode: z.string().nullable(),
      measure: z.string(),
      value: Amount.nullable(),
      unit: z.enum(["days", "share", "amount"]),
    }),
  ),
});
type Measured = z.infer<typeof Measures>["items"][number];

/** The measures that a report of the month has, in its words. */
const REPORTED: Readonly<Record<string, string>> = {
  dsoCountback: "Days sales outstanding, countback",
  bestPossibleDso: "Best possible days sales outstanding",
  collectionEffectiveness: "Collection effectiveness",
  disputedShare: "Receivables in dispute",
  medianDaysToClose: "Days to close a dispute, median",
  p90DaysToClose: "Days to close a dispute, 90th percentile",
  validShare: "Disputes that were valid",
  amountRecovered: "Recovered from disputes that were not",
};

const formatMeasure = ({ value, unit, currencyCode }: Measured): string => {
  if (value === null) return "none";
  if (unit === "amount") return formatMoney(value, currencyCode);
  return unit === "share" ? `${(Number(value) * 100).toFixed(1)} %` : `${value} days`;
};

const measuresOf = (month: Month): Question => ({
  question: "And the department's measures for the report?",
  async answer(session) {
    const args = { from: month.from, to: month.to };
    const { items, notes } = await session.call("receivables_kpis", args, Measures);
    const currencies = [...new Set(items.map(({ currencyCode }) => currencyCode))];
    const find = (measure: string, currency: string | null) =>
      items.find((item) => item.measure === measure && item.currencyCode === currency);
    return [
      'Each currency by itself; "none" where nothing counts:',
      {
        head: ["Measure", ...currencies.map((currency) => currency ?? "without currency")],
        numeric: currencies.map((_currency, place) => place + 1),
        rows: Object.entries(REPORTED).map(([measure, words]) => [
          words,
          ...currencies.map((currency) => {
            const found = find(measure, currency);
            return found === undefined ? "" : formatMeasure(found);
          }),
        ]),
      },
      ...notes,
    ];
  },
});

const Closings = z.object({
  rowCount: z.int(),
  avgDaysToClose: z.number().nullable(),
  groups: z.array(
    z.object({
      key: z.object({ resolution: z.string().nullable() }),
      count: z.int(),
      avgDaysToClose: z.number().nullable(),
    }),
  ),
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
        groupBy: ["resolution"],
        orderBy: "count",
      },
      Closings,
    );
    return [
      `${summary.rowCount} were closed, after ${summary.avgDaysToClose ?? 0} days on average:`,
      {
        head: ["Resolution", "Disputes", "Days to close"],
        numeric: [1, 2],
        rows: summary.groups.map(({ key, count, avgDaysToClose }) => [
          key.resolution ?? "none",
          count,
          avgDaysToClose ?? "",
        ]),
      },
    ];
  },
});

const Unclaimed = z.object({
  rowCount: z.int(),
  currencyTotals: CurrencyTotals,
  items: z.array(
    z.object({
      accountName: z.string(),
      documentNumber: z.string(),
      paymentId: z.string(),
      paymentDate: z.string(),
      amount: Amount,
      currencyCode: z.string(),
      deductionReasonCode: z.string().optional(),
      proposedReason: z.object({ reasonCode: z.string() }).optional(),
    }),
  ),
});

const withoutDispute = (month: Month): Question => ({
  question: "What has been held back this year until then that no dispute explains?",
  async answer(session) {
    const args = { from: `${month.name.slice(0, 4)}-01-01`, to: month.to, limit: 8 };
    const { rowCount, currencyTotals, items } = await session.call(
      "deductions_without_dispute",
      args,
      Unclaimed,
    );
    return [
      `${formatCount(rowCount, "deduction")}, over ${formatTotals(currencyTotals)}. The largest:`,
      {
        head: [
          "Customer",
          "Document",
          "Payment",
          "Amount",
          "Customer's code",
          "Reason of such disputes",
        ],
        numeric: [3],
        rows: items.map((item) => [
          item.accountName,
          item.documentNumber,
          `${item.paymentId} of ${item.paymentDate}`,
          formatMoney(item.amount, item.currencyCode),
          item.deductionReasonCode ?? "none",
          item.proposedReason?.reasonCode ?? "",
        ]),
      },
    ];
  },
});

const ACCOUNT = "C-11387";

const Statement = z.object({
  accountName: z.string(),
  itemsTotal: z.int(),
  balances: z.array(
    z.object({
      currencyCode: z.string(),
      openingBalance: Amount,
      closingBalance: Amount,
      disputed: Amount,
    }),
  ),
  items: z.array(
    z.object({
      day: z.string(),
      kind: z.string(),
      number: z.string().optional(),
      currencyCode: z.string(),
      amount: Amount,
      balance: Amount,
    }),
  ),
});

const statementOf = (month: Month): Question => ({
  question: `Kilbride Engineering asks for its statement of ${month.name}.`,
  async answer(session) {
    const { accountName, itemsTotal, balances, items } = await session.call(
      "account_statement",
      { account: ACCOUNT, from: month.from, to: month.to, limit: 8 },
      Statement,
    );
    return [
      ...balances.map(
        ({ currencyCode, openingBalance, closingBalance, disputed }) =>
          `${accountName} owed ${formatMoney(openingBalance, currencyCode)} before and ${formatMoney(closingBalance, currencyCode)} after, of which ${formatMoney(disputed, currencyCode)} are disputed; ${formatCount(itemsTotal, "line")} lie between. The first:`,
      ),
      {
        head: ["Day", "What", "Number", "Amount", "Balance"],
        numeric: [3, 4],
        rows: items.map(({ day, kind, number, amount, balance, currencyCode }) => [
          day,
          kind,
          number ?? "",
          formatMoney(amount, currencyCode),
          formatMoney(balance, currencyCode),
        ]),
      },
    ];
  },
});

const Saved = z.object({ saved: z.object({ name: z.string(), rows: z.int(), size: z.int() }) });

const savedStatement = (month: Month): Question => ({
  question: "Make it an Excel file that I can send.",
  async answer(session) {
    const { saved } = await session.call(
      "account_statement",
      { account: ACCOUNT, from: month.from, to: month.to, save: "xlsx" },
      Saved,
    );
    return [
      `All ${formatCount(saved.rows, "line")} are in \`${saved.name}\`, ${(saved.size / 1000).toFixed(1)} KB, for a day.`,
    ];
  },
});

/** The close of the month before `now`. */
export const createMonthEnd = (now: Date): Conversation => {
  const month = lastMonth(now);
  return {
    title: "A month end",
    questions: [
      owedAtTheEnd(month),
      measuresOf(month),
      closedByResolution(month),
      withoutDispute(month),
      statementOf(month),
      savedStatement(month),
    ],
  };
};
