import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

export const investigateShortPay: Prompt = {
  name: "investigate-short-pay",
  title: "Investigate short payments",
  description: "Find what an account paid short, why, and which dispute covers it.",
  arguments: [{ name: "accountNumber", description: "number of the account", of: "account" }],
  toolsets: ["insights", "payments", "disputes"],
  attachments: () => ["receivables://dispute-configuration/reasons"],
  text: ({ accountNumber = "" }) => {
    const account = JSON.stringify(accountNumber);
    const filters = `{"accountNumber": {"eq": ${account}}, "shortPay": {"eq": true}, "not": {"applicationStatus": {"eq": "reversed"}}}`;
    return `Investigate with me what account ${account} paid short. The reasons of disputes are attached.

1. account_overview with account ${account} gives its disputes, payments and short payments of the last 90 days.
   payments_match_disputes with accountNumber [${account}] says which open dispute equals a payment's unpaid part.
2. Add up the short payments: payments_summarize with source "cashapp", filters ${filters}, groupBy ["deductionReasonCode"], measures [{"op": "sum", "field": "deductionAmount"}], topRows 20. The same with "disputeId": {"isNull": true} in filters gives those that name no dispute. payments_query with these filters lists the rows beyond the largest 20.
3. Show me a table, largest first: document, paid on, invoiced, applied, short by, reason given, dispute or "none". Below it,
   per currency: total short, covered, not covered.
4. For each one without a dispute propose one step with its reason: open a dispute with a reason that fits, treat it as a
   discount or fee, or ask the customer. For another amount, propose the correction.
5. Wait for my approval of each. Then carry out only those: disputes_create, or disputes_update with ifMatch, and record the
   payment in an Internal note. Finally, list what changed and what is open.

${FOREIGN_TEXT}`;
  },
};
