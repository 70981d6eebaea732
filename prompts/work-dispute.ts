import { FOREIGN_TEXT, type Prompt } from "./prompt.ts";

export const workDispute: Prompt = {
  name: "work-dispute",
  title: "Work one dispute",
  description: "Analyze one dispute, agree on the next step with the person, and carry it out.",
  arguments: [{ name: "disputeId", description: "id or code of the dispute", of: "dispute" }],
  toolsets: ["insights", "disputes"],
  insight: ({ disputeId = "" }) => ({ name: "dispute_packet", args: { disputeId } }),
  text: ({ disputeId = "" }) => `Work dispute ${JSON.stringify(disputeId)} with me.

The answer of dispute_packet is attached: the dispute, its document and payments, notes, files, other disputes, the
resolutions and what is missing. If it says that there is no such dispute, tell me, and look with find_records.

1. Summarize in a few lines: the claim, the amount with currency, its age, the assignee, what has been tried. Cite the note
   or field for each statement; name what is missing.
2. Propose exactly one next step, with its reason: request evidence (draft the note; visibility All only if the customer
   must read it), reassign, correct a field (with the source), or decide: valid or not valid, with a resolutionCode.
   payments_match_disputes shows the payment that explains the amount.
3. Wait for my approval, then carry out only that step: disputes_update with the etag of disputes_get as ifMatch, and an
   Internal note with the reason. Closing and canceling ask me again.
4. Finally, say what changed, what is open, and who acts next.

${FOREIGN_TEXT}`,
};
