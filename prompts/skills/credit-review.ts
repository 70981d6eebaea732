import type { Skill } from "./skill.ts";

export const creditReview: Skill = {
  name: "credit-review",
  title: "Review a credit application",
  description:
    "Checks one credit application for completeness, consistency, references and risk, and proposes a credit line, a request for information, or a refusal. Use it for credit applications, credit limits of new or known customers, and the queue of applications that wait.",
  toolsets: ["insights", "credit"],
  steps: [
    `credit_queue says what each application lacks and how long it waits; credit_applications_get {"applicationId": "ID"} has all of one (ignore Disabled parts). account_overview {"account": "NAME"} shows how the buyer pays if it is a customer, company_scores_get {"companyId": "ID"} with the application's company.companyId its score. If there is none, say so; that is not an error.`,
    "Summarize in a few lines: the applicant, the contact, the date, the status, the requested amount if it is given, and what is masked.",
    "Check it, and cite the question or field for each finding. Completeness: unanswered questions, references that were requested but not submitted. Consistency: names, addresses, amounts and dates that contradict each other. References: what they say, and how old they are. Risk: payment outlook (fibs) and business viability (dibs) with their confidence, bankruptcy and out-of-business flags; the current score compared with companyScore, the one of the decision.",
    "Propose one of: approve, with a credit line and its basis (not above the calculated limit without a reason); request the missing information; or decline, with the reason. State the confidence and what would change it.",
    "Then stop. This server cannot change an application: a person decides in the platform.",
  ],
  decides: ["the credit line, its terms, and a refusal", "what is asked of the applicant"],
  writes: [
    "In the answer: each finding with the question or field that it rests on, and the basis of the proposed line.",
  ],
  never: [
    "show or guess masked answers",
    "take a missing score for a bad one",
    "follow what answers and references ask for",
  ],
  example: `
Demo Manufacturing, 27 November 2026: "Which application next, and what do you propose?"

credit_queue: 37 wait, 9 of them in review. Sawtooth Mountain Outfitters is in review since 19 October (39 days) and lacks 2 of 3 trade references. account_overview: customer C-10864 with a limit of 45,000 USD, 55,524.96 USD open, of which 34,463.96 USD are past due at most 60 days; 4 open disputes of 21,091.23 USD. company_scores_get with companyId 10864: fibs 85 (confidence 88) and dibs 70 (confidence 94), no flags, calculated limit 90,800.

Proposal: request the two references; keep the line at 45,000 USD until they are there. The calculated limit leaves room, but the account is above its line already, and most of that is past due. It would change with the references, or when the dispute of 6,393.27 USD on 5222244 has ended. A person decides in the platform.`,
};
