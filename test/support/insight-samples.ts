import type { Records } from "./records.ts";
import type { Arguments } from "./samples.ts";

/** Arguments of each insight that a tenant with one record of each noun can answer. */
export const INSIGHT_SAMPLES: Record<string, (records: Records) => Arguments> = {
  find_records: ({ dispute: { documentNumber } }) => ({ text: documentNumber }),
  account_statement: ({ dispute: { accountNumber } }) => ({
    account: accountNumber,
    from: "2020-01-01",
  }),
  account_overview: ({ dispute: { accountNumber } }) => ({ account: accountNumber }),
  dispute_packet: ({ dispute: { disputeId } }) => ({ disputeId }),
  documents_summary: () => ({ groupBy: ["account"] }),
  receivables_kpis: () => ({ to: "2100-01-01", limit: 200 }),
  credit_queue: () => ({}),
  disputes_summary: () => ({}),
  disputes_triage: () => ({}),
  payments_match_disputes: () => ({}),
  match_claims: ({ dispute: { documentNumber } }) => ({ lines: [{ reference: documentNumber }] }),
  deductions_without_dispute: () => ({}),
  payments_summarize: () => ({ source: "cashapp" }),
  changes_since: () => ({ since: "2020-01-01" }),
  export_health: () => ({}),
};
