import type { Step } from "../steps.ts";
import type { Skill } from "./skill.ts";

/** Returns the steps for an account, whose number is a JSON text. */
export const shortPaySteps = (account: string): readonly Step[] => {
  const filters = `{"accountNumber": {"eq": ${account}}, "shortPay": {"eq": true}, "not": {"applicationStatus": {"eq": "reversed"}}}`;
  return [
    `account_overview {"account": ${account}} gives its disputes, payments and short payments of the last 90 days. payments_match_disputes {"accountNumber": [${account}]} says which open dispute a payment's unpaid part explains, alone or as a sum.`,
    {
      needs: ["deductions_without_dispute"],
      text: `deductions_without_dispute {"accountNumber": ${account}} lists what no dispute explains, with the reason of earlier cases where enough of them agree.`,
    },
    `Add up the short payments: payments_summarize {"source": "cashapp", "filters": ${filters}, "groupBy": ["deductionReasonCode"], "measures": [{"op": "sum", "field": "deductionAmount"}], "topRows": 20}. payments_query with these filters lists the rows beyond the largest 20.`,
    'Show a table, largest first: document, paid on, invoiced, applied, short by, reason given, dispute or "none". Below it, per currency: total short, covered, not covered.',
    "For each one without a dispute propose one step with its reason: open a dispute with a reason that fits, treat it as a discount or fee, or ask the customer. For another amount, propose the correction.",
    {
      needs: ["disputes_open"],
      text: `Wait for the approval of each. Then open several at once with disputes_open {"claims": [{"accountNumber": ${account}, "documentNumber": "NUMBER", "amount": 1, "reasonCode": "CODE", "paymentId": "PAYMENT"}]}, which the person confirms as a table.`,
    },
    "Carry out only what was agreed to: disputes_create for a single one, or disputes_update with ifMatch, and record the payment in an Internal note. Finally, list what changed and what is open.",
  ];
};

export const shortPayInvestigation: Skill = {
  name: "short-pay-investigation",
  title: "Investigate short payments",
  description:
    "Finds what a customer's payments left out, why, and which dispute covers it, and proposes what to do with the rest. Use it for short payments, deductions, chargebacks and unapplied differences of one account.",
  toolsets: ["insights", "payments", "disputes"],
  steps: shortPaySteps('"ACCOUNT"'),
  decides: [
    "whether a deduction becomes a dispute, a discount, a fee or a question to the customer",
    "the reason of each new dispute",
  ],
  writes: [
    "An Internal note with the payment's id on each dispute that is opened or corrected.",
    "In the answer: what is covered, what is not, per currency.",
  ],
  never: [
    "open a dispute for a reversed payment",
    "open one that explains what another dispute explains already",
    "add amounts of different currencies",
  ],
  example: `
Demo Manufacturing, 27 November 2026: "What did Kilbride Engineering (C-11387) leave out?"

account_overview: 17 open disputes of 25,768.54 EUR and 21 open documents of 79,938.91 EUR against a limit of 25,000. payments_match_disputes: 11 of the 17 disputes equal a deduction to the cent, 6 have no payment. deductions_without_dispute names the largest gap of the tenant: 18,344.59 EUR that payment CP-304941576 of 22 June 2026 left out of invoice 5175739 with the code DAMAGED; 13 of 13 earlier claims with that code were reason DAMAGED.

The invoice is closed, so the analyst was asked first: was the remainder written off, or does the claim still stand? Nothing was opened before the answer.`,
};
