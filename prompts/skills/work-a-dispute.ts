import type { Skill } from "./skill.ts";

export const workADispute: Skill = {
  name: "work-a-dispute",
  title: "Work one dispute",
  description:
    "Analyzes one dispute with its document, payments, notes, files and precedents, agrees on one next step with the person, and carries it out. Use it when a dispute code or id is named, or a customer's claim must be accepted, denied, reassigned or answered.",
  toolsets: ["insights", "disputes"],
  steps: [
    `dispute_packet {"disputeId": "CODE"} has the dispute, its document and payments, notes, files, other disputes, precedents, the resolutions and what is missing. If there is no such dispute, say so, and look with find_records.`,
    "Summarize in a few lines: the claim, the amount with currency, its age, the assignee, what has been tried. Cite the note or field for each statement; name what is missing. dispute_attachments_download shows the text of a file, payments_match_disputes the payment that explains the amount.",
    "Propose exactly one next step, with its reason: request evidence (draft the note; visibility All only if the customer must read it), reassign, correct a field (with the source), or decide: valid or not valid, with a resolutionCode. Name how earlier cases ended, as cases of all.",
    "Wait for the approval, then carry out only that step: disputes_update with the etag of the packet or of disputes_get as ifMatch, and an Internal note with the reason. Closing and canceling ask the person again.",
    "Finally, say what changed, what is open, and who acts next.",
  ],
  decides: ["whether the claim is valid", "the resolution, and the text that the customer reads"],
  writes: [
    "An Internal note with the decision, its reason and the evidence: note, file, payment or document number.",
    "A note with visibility All only where the customer must read it.",
  ],
  never: [
    "decide by precedents alone",
    "change amount or document without a source",
    "promise a credit that nobody has approved",
  ],
  example: `
Demo Manufacturing, 27 November 2026: "Work D-5175194-01 with me."

dispute_packet: Rideau Mechanical Ltd. - East Freda (C-11244) claims 7,486.67 CAD, goods damaged in transit, on invoice 5175194 of 33,410.94 CAD; open for 130 days, assigned to Robert Keane. Payment CP-755197661 of 20 July 2026 left out 7,486.67 CAD with the code DAMAGED, so the dispute explains the balance to the cent. Note of 22 October by Luis Ortega: photos received, damage is clear, carrier claim 58315 opened. Missing: no supporting file.

Proposal: attach the photos, then decide valid; the amount is exact and the damage was confirmed. The analyst agreed to the first part only, so one Internal note asked Robert Keane for the photos, and nothing was closed.`,
};
