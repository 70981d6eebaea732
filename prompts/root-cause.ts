import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

export const rootCause: Prompt = {
  name: "root-cause",
  title: "Root causes of disputes",
  description: "Find what causes disputes in a period: reasons, departments, accounts, trends.",
  arguments: [{ name: "period", description: "such as 2026-Q3, or last 6 months", maxLength: 100 }],
  toolsets: ["insights", "disputes"],
  attachments: () => ["receivables://dispute-configuration/departments"],
  text: ({ period = "" }) => `Find the root causes of disputes in ${JSON.stringify(period)} with me.
State the first and last day that you take for it (FROM, TO), and use them as createdFrom and createdTo.

1. disputes_summary with groupBy ["reason"], then ["department"], then ["account"] (limit 10), each ordered by amount.
2. For the three reasons with the largest amounts: disputes_summary with that reason and groupBy ["account"], then
   ["created:month"], and with status Closed and groupBy ["valid"] for the share of valid claims and the days to close.
3. Compare with the period before, of the same length.
4. Read two or three dispute_packet of the largest disputes per cause, for what customers claim.
5. Report per currency: cause, count, amount, share, trend, share valid, days to close, responsible department, evidence (dispute
   codes), and one measure that would prevent it. Name filter, asOf and rowCount; say what is an assumption. Change nothing.

${FOREIGN_TEXT}`,
};
