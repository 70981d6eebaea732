import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

export const triageDisputes: Prompt = {
  name: "triage-disputes",
  title: "Triage open disputes",
  description:
    "Review the open disputes, find those that need attention today, and propose next steps.",
  arguments: [],
  toolsets: ["insights", "disputes"],
  attachments: () => ["receivables://dispute-configuration"],
  text: () => `Triage the tenant's open disputes with me. The dispute configuration is attached.

1. disputes_triage gives the disputes to work on first, with score, reasons (why) and flags over all of them.
   disputes_summary with status Open, groupBy ["age"] and then ["assignee"] gives the whole picture.
2. Show me counts and amounts per currency and flag, with asOf and rowCount; then a table of the first 15: code, account,
   document, amount, age, assignee, why, and your proposal with its evidence. Read dispute_packet before you propose to
   close or cancel one.
3. Then stop and wait. Carry out only what I agree to: disputes_update for one dispute, disputes_apply for several (I
   confirm the table once), and an Internal note with the reason (dispute_notes_create).

${FOREIGN_TEXT}`,
};
