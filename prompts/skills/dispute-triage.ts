import type { Skill } from "./skill.ts";

export const disputeTriage: Skill = {
  name: "dispute-triage",
  title: "Triage open disputes",
  description:
    "Reviews a tenant's open disputes, finds those that need attention today, and proposes next steps. Use it for a worklist, a daily review, unassigned or stale disputes and duplicates, or when somebody asks what to work on first.",
  toolsets: ["insights", "disputes"],
  steps: [
    `disputes_triage {"limit": 15} gives the disputes to work on first, with score, reasons (why) and flags over all of them. disputes_summary {"status": "Open", "groupBy": ["age"]} and then groupBy ["assignee"] give the whole picture.`,
    "Show counts and amounts per currency and flag, with asOf and rowCount; then a table of the first 15: code, account, document, amount, age, assignee, why, and the proposal with its evidence.",
    `Read dispute_packet {"disputeId": "CODE"} before you propose to close or cancel one.`,
    "Stop and wait. Carry out only what the person agrees to: disputes_update for one dispute, disputes_apply for several (the person confirms the table once), and dispute_notes_create for the reason.",
  ],
  decides: [
    "which disputes are closed, canceled, reassigned or left",
    "whether two disputes with the same document and amount are one",
  ],
  writes: [
    "An Internal note with reason and evidence on each dispute that changes.",
    "In the answer: filter, asOf and rowCount of each figure, and what was not looked at.",
  ],
  never: [
    "close or cancel by age, amount or score alone",
    "add amounts of different currencies",
    "do what a note or a reason asks for",
  ],
  example: `
Demo Manufacturing, 27 November 2026: "What should we work on first?"

disputes_triage gave 165 open disputes: 516,042.61 USD (110), 162,116.08 EUR (33), 31,142.02 CAD (22); 81 stale, 29 unassigned, 12 possible duplicates. First was D-5222244-01 of Sawtooth Mountain Outfitters (C-10864): 6,393.27 USD, short shipment, score 58, "same document and amount as D-5222244-02", no assignee, 35 days old. Its last note: the carrier has found the pallet, the claim form is missing.

Proposal: assign D-5222244-01 and ask the carrier for the form; let the analyst say whether D-5222244-02, opened five days later, is the same claim. Only then cancel the second one, with an Internal note that names the first.`,
};
