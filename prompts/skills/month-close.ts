import type { Step } from "../steps.ts";
import type { Skill } from "./skill.ts";

/** Returns the steps for a month, as its first and last day. */
export const monthCloseSteps = (first = "FIRST", last = "LAST"): readonly Step[] => [
  {
    needs: ["receivables_kpis"],
    text: `Measures: receivables_kpis {"from": "${first}", "to": "${last}"}. Give each value with its unit, numerator and denominator; where it is null, its reason.`,
  },
  `Ageing at the end: documents_summary {"asOf": "${last}", "groupBy": ["age"]}, then groupBy ["account"] with limit 10. Its notes say how far balances of that day are known.`,
  `Disputes: disputes_summary {"createdFrom": "${first}", "createdTo": "${last}", "groupBy": ["category"]} for those opened, {"status": "Closed", "closedFrom": "${first}", "closedTo": "${last}", "groupBy": ["resolution", "valid"]} for those ended, {"asOf": "${last}", "status": "Open", "groupBy": ["age"]} for those open.`,
  {
    needs: ["deductions_without_dispute"],
    text: `Not yet claimed: deductions_without_dispute {"from": "${first}", "to": "${last}", "groupBy": "account"}.`,
  },
  {
    needs: ["account_statement"],
    text: `Statements that do not add up: account_statement {"account": "ACCOUNT", "from": "${first}", "to": "${last}"} for the accounts of the ageing with the largest amounts. A line \`unexplained\` is a finding; name its amount.`,
  },
  "Report per currency, never added across currencies: measures, ageing, disputes opened, ended and open with the change against the month before (the same calls), deductions nobody has claimed, statements with a difference. Name the filter, asOf and rowCount of each figure, and any truncated answer.",
  "Then the three findings that matter, each with its figures, and what to do next. Change nothing.",
];

const PLACEHOLDERS =
  "FIRST and LAST are the first and last day of the month, such as 2026-10-01 and 2026-10-31.";

export const monthClose: Skill = {
  name: "month-close",
  title: "Close a month",
  description:
    "Reports a month of receivables: measures, ageing at the last day, disputes opened, ended and open, deductions without a dispute, and statements that do not add up. Use it for month end, reporting to management, or a comparison of months.",
  placeholders: PLACEHOLDERS,
  toolsets: ["insights", "disputes"],
  steps: monthCloseSteps(),
  decides: ["which findings are followed up, and by whom", "what is written off or accrued"],
  writes: [
    "Filter, asOf and rowCount beside each figure, so that it can be repeated.",
    "What the platform cannot tell about the past day, in the words of the notes.",
  ],
  never: [
    "add amounts of different currencies",
    "present today's balance as that of the last day where notes say otherwise",
    "change a record",
  ],
  references: {
    "MEASURES.md": `
# Measures of a month

Each item of receivables_kpis has numerator, denominator, rows and formula; quote these, not a formula from elsewhere.

- Days sales outstanding: receivables at the end of the period against its net sales, in days. Countback takes the newest months first.
- Best possible DSO: the same with receivables that are not due.
- Average days delinquent: the difference of both.
- Collection effectiveness: the share of what could be collected that was.
- Days deduction outstanding: open disputes against what was disputed in the period, in days.
- A share is from 0 to 1. A value of null has a reason: report it as unknown, not as 0.
`,
  },
  example: `
Demo Manufacturing, on 27 November 2026: "Close October."

FIRST and LAST are 2026-10-01 and 2026-10-31. Disputes opened: 64, of which 48 for 134,934.87 USD, 9 for 8,439.95 CAD and 7 for 7,823.97 EUR; the largest category is Shipping and delivery (20, 89,818.32 USD). Ended: 13, of which 12 were valid; 7,722.60 USD, 1,867.95 CAD, 182.14 EUR, after 21.8 days on average. Deductions without a dispute: 4, together 688.96 USD, the largest 380.45 USD of Buckeye Bearing & Drive - West Orval on document 5225520.

Findings: shipping claims lead; valid claims were nearly all, so the causes lie with us; the four open deductions are small and can be asked for in one mail. Each figure stood beside its filter, asOf and rowCount.`,
};
