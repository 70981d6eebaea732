import { accountOverview } from "../src/insights/account-overview.ts";
import { accountStatement } from "../src/insights/account-statement.ts";
import { deductionsWithoutDispute } from "../src/insights/deductions-without-dispute.ts";
import { changesSince } from "../src/insights/changes-since.ts";
import { creditQueue } from "../src/insights/credit-queue.ts";
import { findRecords } from "../src/insights/find-records.ts";
import { disputesSummary } from "../src/insights/disputes-summary.ts";
import { disputesTriage } from "../src/insights/disputes-triage.ts";
import { matchClaims } from "../src/insights/match-claims.ts";
import { paymentsMatchDisputes } from "../src/insights/payments-match-disputes.ts";
import { paymentsSummarize } from "../src/insights/payments-summarize.ts";
import { documentsSummary } from "../src/insights/documents-summary.ts";
import { disputePacket } from "../src/insights/dispute-packet.ts";
import { receivablesKpis } from "../src/insights/receivables-kpis.ts";
import { exportHealth } from "../src/insights/export-health.ts";
import { defineInsightTool } from "./tool.ts";

export const insightTools = [
  defineInsightTool(
    findRecords,
    "Find accounts, documents, disputes and payers by number, code or part of a name; each hit names the tool that reads it.",
  ),
  defineInsightTool(
    accountOverview,
    "One customer, by number or part of the name: open documents, disputes, payments, short payments, credit and notes; with everything below it on request.",
  ),
  defineInsightTool(
    accountStatement,
    "Statement of one customer: balance before and after a time, and the invoices, payments, closings and changes between, which add up.",
  ),
  defineInsightTool(
    disputesSummary,
    'Count and add up disputes by any property, age or month: {"status": ["Open"], "groupBy": ["age"]}.',
  ),
  defineInsightTool(disputesTriage, "Disputes to work on first, with score and reasons."),
  defineInsightTool(
    paymentsMatchDisputes,
    "Payments whose deduction or unpaid part explains open disputes.",
  ),
  defineInsightTool(
    matchClaims,
    "For lines of a customer's mail, remittance or claim sheet: the documents meant, balances, disputes, payments, reasons and doubts.",
  ),
  defineInsightTool(
    deductionsWithoutDispute,
    "Deductions and short payments that no dispute explains, with the reason that earlier ones had.",
  ),
  defineInsightTool(
    paymentsSummarize,
    'Add up payments per currency: totals, top payers, months, extremes; filters as in payments_query. {"source": "cashapp", "groupBy": ["payerName"]}.',
  ),
  defineInsightTool(
    disputePacket,
    "Everything about one dispute, to decide it: document, payments with short payments, notes, files, other disputes, how earlier ones ended, resolutions, and what is missing.",
  ),
  defineInsightTool(
    documentsSummary,
    "Receivables by days past due, account, parent, month or closing reason, with disputed amounts; who is over the credit limit.",
  ),
  defineInsightTool(
    receivablesKpis,
    "Measures of the department by month, account or parent: DSO, delinquency, collection effectiveness, disputed share, days to close, valid disputes, recoveries.",
  ),
  defineInsightTool(
    changesSince,
    "What happened since a day or time: changes of disputes, notes, files, documents, payments, credit applications and exports, counted, with who and when.",
  ),
  defineInsightTool(
    creditQueue,
    "Undecided credit applications, oldest first, with what each lacks.",
  ),
  defineInsightTool(
    exportHealth,
    "Export schedules: last run, failures, stalled deliveries, next step; urgent ones first.",
  ),
];
