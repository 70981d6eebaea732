import { creditQueue } from "../src/insights/credit-queue.ts";
import { defineInsightTool } from "./tool.ts";

export const insightTools = [
  defineInsightTool(
    creditQueue,
    "Credit applications that wait for the applicant or for a decision, oldest first, with what each still lacks.",
  ),
];
