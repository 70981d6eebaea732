/**
 * The operations of daily work with disputes. `RECEIVABLES_TOOLSETS=core` lists them and the insights, for hosts that
 * take few tools. A separate file, so that reading settings does not load the tools.
 */
export const coreTools: ReadonlySet<string> = new Set([
  "disputes_get",
  "disputes_list",
  "disputes_create",
  "disputes_open",
  "disputes_update",
  "disputes_apply",
  "dispute_notes_list",
  "dispute_notes_create",
  "dispute_attachments_list",
  "dispute_attachments_upload",
  "dispute_attachments_download",
  "reasons_list",
  "assignees_list",
  "resolutions_list",
  "credit_applications_get",
  "payments_schema",
  "payments_query",
  "accounts_get",
  "account_notes_create",
  "documents_get",
  "document_attachments_list",
  "document_attachments_get",
]);
