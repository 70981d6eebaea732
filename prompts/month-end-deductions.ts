import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

export const monthEndDeductions: Prompt = {
  name: "month-end-deductions",
  title: "Deductions at month end",
  description: "Report the disputes opened, closed and open at the end of a month, with aging.",
  arguments: [{ name: "month", description: "such as 2026-10", maxLength: 20 }],
  toolsets: ["insights", "disputes"],
  attachments: () => ["receivables://dispute-configuration/categories"],
  text: ({
    month = "",
  }) => `Report the deductions of ${JSON.stringify(month)} with me. If that is not one month, ask me which.
FIRST and LAST below are its first and last day, such as 2026-10-01 and 2026-10-31.

1. Opened: disputes_summary with createdFrom FIRST, createdTo LAST, groupBy ["category"].
2. Closed: disputes_summary with status Closed, closedFrom FIRST, closedTo LAST, groupBy ["resolution", "valid"].
3. Open at the end: disputes_summary with asOf LAST, status Open, groupBy ["age"], then groupBy ["account"], limit 10.
4. Taken by customers: payments_summarize with source "cashapp", filters {"paymentDate": {"between": [FIRST, LAST]}, "shortPay": {"eq": true}, "not": {"applicationStatus": {"eq": "reversed"}}}, measures [{"op": "sum", "field": "deductionAmount"}], groupBy ["deductionReasonCode"]. If the
   right is missing, say so.
5. Report per currency, never added across currencies: opened, closed (share valid, days to close), open with aging, and the
   change against the month before (the same calls). Name the filter, asOf and rowCount of each figure, and any truncated
   answer. Then the three findings that matter, each with its figures, and what you would do. Change nothing.

${FOREIGN_TEXT}`,
};
