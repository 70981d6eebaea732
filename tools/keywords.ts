/**
 * Words for the search of tools in discovery mode. A separate file, because only that search loads them; a test refuses
 * names of tools that do not exist.
 */

/** Terms of the field and everyday phrases, by the word that they stand for. A phrase counts as one word. */
export const synonyms: Readonly<Record<string, string>> = {
  dispute:
    "claim, deduction, chargeback, charge-back, reason of a dispute, reason of the dispute, reason of this dispute",
  shortpay: "short pay, short paid, short payment, shortage, underpaid, underpayment",
  document: "invoice, bill, receivable, credit memo, credit note, debit memo",
  account: "customer, client, debtor, customer account, customer s account",
  assignee: "analyst, collector, handler",
  note: "comment, remark, memo, annotation",
  attachment:
    "file, evidence, photo, backup document, proof of delivery, bill of lading, scan, scanned, image, picture, pod, bol, supporting document, backup",
  payment: "cash, remittance, pay, paid, payer, check, ach, wire, lockbox",
  department: "team",
  resolution: "outcome, closing code",
  user: "people, colleague, coworker, employee, staff",
  session: "signed in, logged in",
  login: "sign in, log in, log me in, sign me in",
  logout: "sign out, log out, log off, sign off, log me off, log me out, sign me out, sign me off",
  apikey: "api key, api credential, access key, key, credential",
  export: "feed, extract",
  webhook: "callback, call back, endpoint, notify, notification",
  schedule:
    "recurring, regular, cron, repeat, nightly, hourly, daily, weekly, monthly, every night, each hour",
  aging: "overdue, past due, age, bucket, ageing",
  creditapplication:
    "credit application, credit form, application, applicant, applied for credit, credit request",
  businessunit: "business unit, division",
  score: "rating, risk, risky, viability",
  audit: "trail, who changed, who did, log entry, activity log",
  balance: "denomination",
  writeoff: "write off, written off, write-off",
  reason: "dispute reason, deduction reason, claim reason, reason code",
  category:
    "dispute category, deduction category, claim category, category of deductions, category of disputes",
  mean: "what is, what does",
  create: "set up, sets up",
  download: "download, contents",
  bulk: "together, at once, in one go, several, multiple, bunch, same time, mass, batch",
};

/** Verbs for each kind of act, by the first word after the noun in a tool's name. */
export const acts: Readonly<Record<string, string>> = {
  get: "read, show, open, look, view, find, display, check, fetch, detail, one, single, particular, mean, about",
  list: "which, what, have, all, every, show, available, see, give, any",
  create:
    "add, new, define, enter, log, raise, write, register, generate, issue, another, post, start, make, insert, record, need",
  open: "sheet, lines, matched",
  update:
    "change, edit, rename, correct, move, set, deactivate, activate, hide, make, turn, mark, assign, raise, adjust, fix, transfer, increase, lower, extend, enable, disable",
  delete:
    "remove, erase, drop, get rid, revoke, invalidate, stop, take off, for good, discard, destroy, purge, unneeded, no longer",
  replace: "overwrite, upsert, whole, completely, all fields, clearing",
};

/** Further words of single tools. */
export const keywords: Readonly<Record<string, string>> = {
  find_records:
    "which account customer number name meant means mentioned anything matches look up unknown identify something someone phone invoice dispute or",
  account_statement:
    "statement opening closing balance running lines between ledger reconcile month customer account send",
  account_overview: "how customer stands picture brief call relationship owed",
  disputes_summary:
    "how many total count sum average days break down per reason month trend by worth statistics dashboard worth quarter value how old",
  disputes_triage:
    "prioritize work first prioritize prioritise rank priority important urgent duplicates closed invoice clean up morning today attention focus start stale neglected worklist first deadline deadlines run out expire",
  payments_match_disputes: "shortpay explains match reconcile caused tie underpayment disputed",
  match_claims:
    "claim sheet sheet lines mail mails po references map match mean doubtful doubt sent",
  deductions_without_dispute:
    "nobody unclaimed undisputed no without opened chargebacks likely october",
  payments_summarize:
    "how much total sum count biggest largest top per month by method year average received number add up highest paid transaction payments payers",
  dispute_packet:
    "pull together everything know full whole case file background decide resolve missing evidence dossier case picture",
  documents_summary:
    "aging aging receivables overdue days total balance by customer bucket how much owed outstanding ar past",
  receivables_kpis:
    "dso days sales outstanding kpi kpis measure measures metrics delinquent delinquency collection effectiveness cei median percentile best possible how long take share valid recovered reopened performance",
  changes_since:
    "happened happen new news since yesterday friday week vacation away catch up digest overnight morning",
  credit_queue:
    "creditapplication still waiting wait decision pending undecided decision backlog queue lack missing oldest open",
  export_health:
    "schedules exports scheduled without wrong broken failures running working okay health problem failed feeds weekend",
  disputes_get: "status amount details one assigned open current claim read tell",
  disputes_list: "open closed assigned handled came reason category show department",
  disputes_create: "open shortpay raise log",
  disputes_update:
    "close reopen assign cancel withdraw amount valid invalid resolve settle change reason assignee amount set withdrew",
  disputes_apply: "bulk reassign all these close many twenty mass twenty fifty bulk reassign",
  disputes_open: "sheet lines matched twelve create bulk mail",
  disputes_delete: "mistake error test",
  disputes_list_by_document_numbers: "bulk numbers list of these documents",
  disputes_list_by_ids: "bulk ids identifiers spreadsheet fetch load retrieve",
  dispute_notes_list: "history left which all",
  dispute_notes_update: "visible customer wording edit",
  dispute_notes_create: "leave down called promised internal",
  dispute_attachments_get: "status scanned passed virus link ready available url state",
  dispute_attachments_create: "upload url put http link script myself",
  dispute_attachments_list: "which files there list show there any attachments files",
  dispute_attachments_update: "visibility hide visible customer visible everyone customer",
  dispute_attachments_upload: "attach signed upload add send evidence email pdf",
  dispute_attachments_download: "download contents say read text download inside open",
  dispute_attachments_delete: "wrong duplicate",
  reasons_list: "reason codes choose",
  assignees_create: "person people work disputes user new",
  assignees_get: "email find",
  assignees_list: "who can be assign assigned work disputes analysts who people work",
  departments_list: "handle go teams",
  resolutions_list: "closed with codes",
  departments_delete_by_code: "code whose",
  resolutions_delete_by_code: "code whose",
  assignees_delete_by_email: "email mail department",
  credit_applications_list: "companies applied approved declined from between dates last days",
  credit_applications_get: "answers trade references form full",
  company_scores_get:
    "credit score buyer company limit latest creditworthiness financial health bankruptcy risk credit limit viability",
  payments_schema:
    "fields columns operators sources filter by data columns available dictionary remittance data",
  payments_query:
    "rows find list show from above unapplied partial remittance date month transactions individual rows payments",
  webhooks_create: "notify url when finished callback",
  webhooks_list: "registered urls notify callbacks hooks",
  webhooks_list_deliveries: "did calls reach arrive delivered attempts delivery retries why",
  webhooks_delete: "stop notifying",
  schedules_create: "export every run set",
  schedules_list: "next run set scheduled queries",
  schedules_delete: "stop cancel export stop nightly export",
  export_runs_status:
    "run history of schedule last run fail failed history past errors when runs executions",
  export_runs_data: "read what stored rows latest stored data fetch results",
  audit_logs_list:
    "who changed audit trail history requests refused by whom yesterday log activity logged who did when",
  accounts_get: "master data what payment terms billing address",
  accounts_list: "parent search children",
  accounts_update: "billing address phone credit limit terms",
  account_notes_create: "call log promise add",
  documents_get: "show paid still open balance line items status",
  documents_list: "open due next search which fall next",
  documents_create: "post line items credit memo",
  documents_update: "due date po number balance",
  documents_close:
    "close writeoff reason paid mark closed settled bad debt uncollectible remaining",
  document_attachments_get: "pdf image scanned copy read show open image copy original view",
  document_attachments_list: "pdfs files have there attached copies any which",
  auth_login: "login signin start open",
  auth_verify_session: "still valid check keep alive",
  auth_logout: "logout end close",
  api_keys_create: "script new key generate",
  api_keys_delete: "revoke leaked old key",
  users_list: "who access roles tenant user id names ids people",
  users_list_v1: "v1 old version format",
  users_profile: "my own who am i signed tenants access whoami name me",
  assignees_update: "daily digest all updates move department",
  assignees_delete: "id off list",
  accounts_replace: "whole record erp",
  documents_replace: "whole erp version",
  accounts_create: "onboard",
  account_notes_get: "reference particular",
  business_units_list: "divisions values groups",
};
