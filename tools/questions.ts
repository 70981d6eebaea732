/** The questions that each insight answers, for the server's instructions. A separate file, so that a handshake loads no insight. */
export const questions: Readonly<Record<string, string>> = {
  find_records: "which account, document, dispute or payer a name or number means",
  account_overview: "how one customer stands",
  disputes_summary: "counts, amounts, aging and trends of disputes",
  disputes_triage: "what to work on first; disputes on closed documents, duplicates",
  payments_match_disputes: "which payment explains a dispute",
  payments_summarize: "sums, counts, top payers and months of payments",
  dispute_packet: "everything about one dispute, to decide it",
  documents_summary: "receivables aging by account, days past due or month",
  credit_queue: "credit applications that wait, and what they lack",
  export_health: "whether exports and webhooks work",
};
