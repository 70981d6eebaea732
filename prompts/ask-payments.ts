import { OPERATORS } from "../src/contract/payments/operators.ts";
import { CATALOGUE, type Source } from "../src/contract/payments/catalogue.ts";
import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

type WorkedExample = {
  /** Matches questions for which the example is relevant. */
  words: RegExp;
  question: string;
  query: { source: Source; fields: string[]; filters: Record<string, unknown> };
};

/** The date that relative dates in the examples refer to. */
const EXAMPLE_DATE = "2026-11-19";

/** Example questions with the arguments of payments_query that answer them. */
export const WORKED_EXAMPLES: readonly WorkedExample[] = [
  {
    words: /short|deduct|partial|withh|less than/i,
    question: "Which payments since January were short, and why?",
    query: {
      source: "cashapp",
      fields: [
        "documentNumber",
        "accountName",
        "deductionAmount",
        "deductionReasonCode",
        "currencyCode",
      ],
      filters: { shortPay: { eq: true }, paymentDate: { gte: "2026-01-01" } },
    },
  },
  {
    words: /unappl|unmatch|on account|cash|open money|match/i,
    question: "What cash is not applied yet?",
    query: {
      source: "cashapp",
      fields: ["paymentReference", "payerName", "unappliedAmount", "currencyCode", "paymentDate"],
      filters: {
        or: [
          { applicationStatus: { in: ["unapplied", "on_account"] } },
          { unappliedAmount: { gt: 0 } },
        ],
      },
    },
  },
  {
    words: /check|cheque|wire|\bach\b|reference|trace|lockbox/i,
    question: "Where did check 10492 of last week go?",
    query: {
      source: "cashapp",
      fields: ["paymentId", "documentNumber", "appliedAmount", "currencyCode", "applicationStatus"],
      filters: {
        paymentReference: { endsWith: "10492" },
        paymentDate: { between: ["2026-11-09", "2026-11-15"] },
      },
    },
  },
  {
    words: /customer|account|payer|who|acme|company|name/i,
    question: "What has Acme paid us this year?",
    query: {
      source: "cashapp",
      fields: [
        "payerName",
        "accountNumber",
        "paymentId",
        "paymentAmount",
        "currencyCode",
        "paymentDate",
      ],
      filters: {
        or: [{ payerName: { contains: "acme" } }, { accountName: { contains: "acme" } }],
        paymentDate: { gte: "2026-01-01" },
      },
    },
  },
  {
    words: /fail|declin|refund|void|charg|bounce|reject/i,
    question: "Which portal payments failed or were charged back, without autopay?",
    query: {
      source: "iandp",
      fields: [
        "invoiceNumber",
        "accountName",
        "amountPaid",
        "currencyCode",
        "paymentStatus",
        "failureCode",
      ],
      filters: {
        paymentStatus: { in: ["failed", "charged_back"] },
        not: { autopay: { eq: true } },
      },
    },
  },
  {
    words: /late|days|overdue|due|slow|invoice|how long/i,
    question: "Which invoices took more than 60 days to be paid?",
    query: {
      source: "iandp",
      fields: ["invoiceNumber", "accountNumber", "dueDate", "paymentDate", "daysToPay"],
      filters: { daysToPay: { gt: 60 }, paymentStatus: { eq: "settled" } },
    },
  },
  {
    words: /network|card|\bfees?\b|remit|supplier|adjust|virtual|return|deliver/i,
    question: "What did card payments over the network cost, and what did payers hold back?",
    query: {
      source: "bpn",
      fields: [
        "networkPaymentId",
        "payerName",
        "feeAmount",
        "adjustmentAmount",
        "adjustmentReasonCode",
        "currencyCode",
      ],
      filters: {
        paymentMethod: { eq: "vcard" },
        or: [{ feeAmount: { gt: 0 } }, { adjustmentAmount: { ne: 0 } }],
      },
    },
  },
];

const MAX_EXAMPLES = 2;

/** Returns the examples that match the question, then others, up to MAX_EXAMPLES. */
const selectExamples = (question: string): readonly WorkedExample[] => {
  const fits = WORKED_EXAMPLES.filter(({ words }) => words.test(question));
  return [...fits, ...WORKED_EXAMPLES.filter((one) => !fits.includes(one))].slice(0, MAX_EXAMPLES);
};

const formatExample = ({ question, query }: WorkedExample): string =>
  `- ${question}\n  ${JSON.stringify(query)}`;

const operatorList = Object.entries(OPERATORS)
  .map(([name, meaning]) => `- ${name}: ${meaning}`)
  .join("\n");

const fieldList = Object.values(CATALOGUE)
  .map(({ source, fields }) => `   - ${source}: ${fields.map(({ name }) => name).join(" ")}`)
  .join("\n");

export const askPayments: Prompt = {
  name: "ask-payments",
  title: "Ask about payments",
  description:
    "Answer a question from payment rows: choose the source, filter, sum, and cite the rows.",
  arguments: [{ name: "question", description: "question in plain language", maxLength: 1000 }],
  toolsets: ["insights", "payments"],
  text: ({
    question = "",
  }) => `Answer this question from the payment rows: ${JSON.stringify(question)}

1. Choose the source that fits the question and say why in one line. Fields:
${fieldList}
2. For sums, counts, averages, extremes, rankings and months use payments_summarize: exact, over all rows, per currency, and
   each payment once. {"source": "cashapp", "filters": {…}, "groupBy": ["payerName"], "limit": 5}; topRows shows rows.
   Use payments_query for single rows, with only the fields that you need, and follow its cursor.
3. Filters are {"FIELD": {"OPERATOR": VALUE}}, combined with AND; "and" and "or" take lists of filters, "not" takes one
   object. Dates are "2026-01-31", amounts are numbers. Leave out reversed, failed, refunded, voided, charged-back and
   returned payments unless the question is about them, and say so.
4. Answer in a few lines: the figure per currency (never added across currencies), rowCount, filter and asOf. Cite two or
   three rows as evidence. If truncated is true, or the rows do not answer the question, say what is missing.

Operators:
${operatorList}

Example queries, as if today were ${EXAMPLE_DATE}:
${selectExamples(question).map(formatExample).join("\n")}

${FOREIGN_TEXT}`,
};
