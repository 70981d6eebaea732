import { creditQueue } from "../src/insights/credit-queue.ts";
import { paymentsSummarize } from "../src/insights/payments-summarize.ts";
import { defineInsightTool } from "./tool.ts";

export const insightTools = [
  defineInsightTool(
    paymentsSummarize,
    'Add up payments: totals, top payers, months, extremes, in exact amounts per currency. {"source": "cashapp", "filters": {"paymentDate": {"gte": "2026-01-01"}}, "groupBy": ["payerName"], "limit": 5}; filters as in payments_query.',
  ),
  defineInsightTool(
    creditQueue,
    "Credit applications that wait for the applicant or for a decision, oldest first, with what each still lacks.",
  ),
];
