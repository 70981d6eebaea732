import { z } from "zod";
import type { Conversation, Question } from "../conversation.ts";
import { Amount, CurrencyTotals, formatCount, formatMoney, formatTotals } from "../wording.ts";

const ShortPays = z.object({
  currencyTotals: CurrencyTotals,
  items: z.array(
    z.object({
      key: z.object({ accountNumber: z.string(), accountName: z.string() }),
      currencyCode: z.string().nullable(),
      payments: z.int(),
      sum: z.object({ deductionAmount: Amount }),
    }),
  ),
});

const Matches = z.object({
  rowCount: z.int(),
  matches: z.record(z.string(), z.int()),
  items: z.array(
    z.object({
      disputeCode: z.string(),
      documentNumber: z.string(),
      amount: Amount,
      currencyCode: z.string(),
      match: z.string(),
      paymentId: z.string().nullish(),
      paymentDate: z.string().nullish(),
      deductionReasonCode: z.string().nullish(),
    }),
  ),
});

const Uncovered = z.object({
  rowCount: z.int(),
  items: z.array(
    z.object({
      key: z.record(z.string(), z.string().nullable()),
      currencyCode: z.string().nullable(),
      sum: z.object({ deductionAmount: Amount }),
    }),
  ),
});

const Part = z.object({ count: z.int(), totals: CurrencyTotals });
const Overview = z.object({
  items: z.array(
    z.object({
      account: z.object({ name: z.string(), paymentTerms: z.string().optional() }),
      disputes: z.object({ open: Part, closed: Part }),
      payments: z.object({
        since: z.string(),
        count: z.int(),
        totals: CurrencyTotals,
        shortPayments: z.object({ count: z.int(), deductions: CurrencyTotals }),
      }),
    }),
  ),
});

/** Questions about the account with the largest deductions; the first one finds it. */
const investigate = (): Question[] => {
  let account: string | undefined;
  const findAccount = (): string => {
    if (account === undefined) throw new Error("No account has deductions.");
    return account;
  };
  return [
    {
      question: "Which customers take the largest deductions from their payments?",
      async answer(session) {
        const { items } = await session.call(
          "payments_summarize",
          {
            source: "cashapp",
            filters: { shortPay: { eq: true } },
            groupBy: ["accountNumber", "accountName"],
            measures: [{ op: "sum", field: "deductionAmount" }],
            limit: 5,
          },
          ShortPays,
        );
        account = items[0]?.key.accountNumber;
        return [
          {
            head: ["Account", "Name", "Payments", "Deducted"],
            numeric: [2, 3],
            rows: items.map(({ key, payments, sum, currencyCode }) => [
              key.accountNumber,
              key.accountName,
              payments,
              formatMoney(sum.deductionAmount, currencyCode),
            ]),
          },
        ];
      },
    },
    {
      question: "How does the first of them stand?",
      async answer(session) {
        const { items } = await session.call(
          "account_overview",
          { account: findAccount() },
          Overview,
        );
        return items.map(
          ({ account: { name, paymentTerms = "none" }, disputes: { open }, payments }) =>
            `${name} (terms: ${paymentTerms}) has ${formatCount(open.count, "open dispute")} over ${formatTotals(open.totals)}. Since ${payments.since} it paid ${formatTotals(payments.totals)} in ${formatCount(payments.count, "payment")}, ${payments.shortPayments.count} of them short by ${formatTotals(payments.shortPayments.deductions)}.`,
        );
      },
    },
    {
      question: "Which deductions explain its open disputes?",
      async answer(session) {
        const { rowCount, matches, items } = await session.call(
          "payments_match_disputes",
          { accountNumber: findAccount(), limit: 10 },
          Matches,
        );
        const counts = Object.entries(matches).filter(([, count]) => count > 0);
        return [
          `${formatCount(rowCount, "open dispute")}, by match: ${counts.map(([match, count]) => `${match} ${count}`).join(", ")}. The best ${items.length}:`,
          {
            head: ["Dispute", "Document", "Amount", "Match", "Payment", "Date", "Reason"],
            numeric: [2],
            rows: items.map((item) => [
              item.disputeCode,
              item.documentNumber,
              formatMoney(item.amount, item.currencyCode),
              item.match,
              item.paymentId ?? "",
              item.paymentDate ?? "",
              item.deductionReasonCode ?? "",
            ]),
          },
        ];
      },
    },
    {
      question: "Did it also deduct anything that has no dispute?",
      async answer(session) {
        const { rowCount, items } = await session.call(
          "payments_summarize",
          {
            source: "cashapp",
            filters: {
              accountNumber: { eq: findAccount() },
              shortPay: { eq: true },
              disputeId: { isNull: true },
            },
            groupBy: ["paymentDate", "documentNumber", "deductionReasonCode"],
            measures: [{ op: "sum", field: "deductionAmount" }],
            limit: 10,
          },
          Uncovered,
        );
        if (rowCount === 0) return ["No: every short payment names its dispute."];
        return [
          `Yes, in ${formatCount(rowCount, "payment row")}:`,
          {
            head: ["Date", "Document", "Reason", "Deducted"],
            numeric: [3],
            rows: items.map(({ key, sum, currencyCode }) => [
              key["paymentDate"] ?? "",
              key["documentNumber"] ?? "",
              key["deductionReasonCode"] ?? "",
              formatMoney(sum.deductionAmount, currencyCode),
            ]),
          },
        ];
      },
    },
  ];
};

export const createShortPay = (): Conversation => ({
  title: "Short payment",
  questions: investigate(),
});
