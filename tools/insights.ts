import { creditQueue } from "../src/insights/credit-queue.ts";
import { paymentsSummarize } from "../src/insights/payments-summarize.ts";
import { disputePacket } from "../src/insights/dispute-packet.ts";
import { exportHealth } from "../src/insights/export-health.ts";
import { defineInsightTool } from "./tool.ts";

export const insightTools = [
  defineInsightTool(
    paymentsSummarize,
    'Add up payments: totals, top payers, months, extremes, in exact amounts per currency. {"source": "cashapp", "filters": {"paymentDate": {"gte": "2026-01-01"}}, "groupBy": ["payerName"], "limit": 5}; filters as in payments_query.',
  ),
  defineInsightTool(
    disputePacket,
    "Everything about one dispute, to decide it: document, payments with short payments, notes, files, other disputes, resolutions, and what is missing.",
  ),
  defineInsightTool(
    creditQueue,
    "Credit applications that wait for the applicant or for a decision, oldest first, with what each still lacks.",
  ),
  defineInsightTool(
    exportHealth,
    "Export schedules with their last run, failures, stalled webhook deliveries and the next step; those that need attention come first.",
  ),
];
