import type { Prompt } from "./prompt.ts";
import { creditReview } from "./skills/credit-review.ts";
import { renderTask } from "./skills/skill.ts";

export const reviewCreditApplication: Prompt = {
  name: "review-credit-application",
  title: "Review a credit application",
  description: "Check one credit application, assess the risk and propose a credit line.",
  arguments: [
    { name: "applicationId", description: "id of the credit application", of: "application" },
  ],
  toolsets: ["insights", "credit"],
  attachments: ({ applicationId = "" }) => [
    `receivables://credit-applications/${encodeURIComponent(applicationId)}`,
  ],
  text: (
    { applicationId = "" },
    has,
  ) => `Review credit application ${JSON.stringify(applicationId)} with me. It is attached, shortened.

${renderTask(creditReview, has)}`,
};
