/**
 * Words by which hosts that load tools on demand find them (`anthropic/searchHint`): what people call the records and the
 * task. A test refuses tools without one.
 */
const NOUNS: Readonly<Record<string, string>> = {
  disputes: "chargeback, short pay, deduction, claim",
  dispute_notes: "comment or remark on a chargeback, deduction or claim",
  dispute_attachments: "proof of delivery, backup, evidence or file of a claim",
  reasons: "reason codes of deductions and chargebacks",
  categories: "categories of deduction reasons",
  departments: "teams that resolve claims",
  assignees: "analysts and collectors who work claims",
  resolutions: "outcomes of claims: credit memo, write-off, denied",
  business_units: "divisions, business units",
  company_scores: "credit score, credit limit, bankruptcy risk of a buyer",
  credit_applications: "credit application of a new customer, trade references",
  payments: "remittance, check, ACH, wire, lockbox, cash application",
  export_runs: "remittance export, scheduled runs and their rows",
  schedules: "recurring remittance export, nightly feed",
  webhooks: "callback when an export finishes, notification",
  audit_logs: "who changed what, audit trail, activity log",
  accounts: "customer, debtor, bill-to, master data",
  account_notes: "comment on a customer, call, promise to pay",
  documents: "invoice, credit memo, debit memo, receivable",
  document_attachments: "PDF of an invoice or credit memo",
  auth: "sign in, session, sign out",
  api_keys: "API key, access key, credential",
  users: "people, colleagues, roles, access",
};

const INSIGHTS: Readonly<Record<string, string>> = {
  find_records:
    "look up customer, invoice, chargeback, deduction, claim or payer by name or number",
  account_statement:
    "statement of account: opening and closing balance, invoices, payments, write-offs",
  account_overview: "customer at a glance: open invoices, deductions, short pays, remittances",
  disputes_summary: "how many deductions, chargebacks, claims; totals, aging, by reason or owner",
  disputes_triage: "which chargebacks, deductions or claims to work first; stale, duplicate, due",
  payments_match_disputes: "which remittance, short pay or deduction explains a claim",
  match_claims: "claim sheet, debit memo or mail of a customer: lines to invoices and PO numbers",
  deductions_without_dispute: "deductions and short pays without a dispute, unclaimed chargebacks",
  payments_summarize: "remittances and payments added up: top payers, by month or method",
  dispute_packet:
    "everything about one chargeback, short pay, deduction or claim: evidence, credit memo",
  documents_summary: "receivables aging, past due invoices, credit memos, open balance",
  receivables_kpis: "KPIs: DSO, days delinquent, CEI, disputed share, deduction days, recoveries",
  changes_since: "what is new since Friday: claims opened, closed, paid, noted, reassigned",
  credit_queue: "credit applications waiting for a decision",
  export_health: "failed remittance exports, webhooks that do not arrive",
  read_resource: "guide, file, claim, customer or invoice by its receivables:// address",
};

const DISCOVERY: Readonly<Record<string, string>> = {
  find_tools: "find a tool for chargebacks, deductions, claims, remittances, invoices",
  describe_tool: "arguments of a receivables tool",
  call_tool: "call a receivables tool: claim, deduction, remittance, credit memo",
};

const RESEARCH: Readonly<Record<string, string>> = {
  search: "research customers, invoices, chargebacks, deductions, claims by number or name",
  fetch: "full text of a customer, invoice, chargeback or claim that search found",
};

/** Tools whose records stand open in every conversation, also in hosts that load the others on demand. */
const ALWAYS_LOADED: ReadonlySet<string> = new Set([
  "find_records",
  "disputes_triage",
  "dispute_packet",
]);

/** Returns the words of a tool: those of its name, else of the longest noun with which its name begins. */
const findWords = (name: string): string | undefined => {
  const parts = name.split("_");
  const nouns = parts.map((_part, at) => parts.slice(0, parts.length - at).join("_"));
  const own = INSIGHTS[name] ?? DISCOVERY[name] ?? RESEARCH[name];
  return own ?? nouns.map((noun) => NOUNS[noun]).find(Boolean);
};

/** Returns the `_meta` by which hosts search for a tool, or load it at once. */
export const searchMetaOf = (name: string): Record<string, unknown> => {
  const words = findWords(name);
  return {
    ...(words === undefined ? {} : { "anthropic/searchHint": words }),
    ...(ALWAYS_LOADED.has(name) ? { "anthropic/alwaysLoad": true } : {}),
  };
};
