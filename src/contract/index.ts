import { DRY_RUN } from "./dry-run.ts";
import type { Operation } from "./operation.ts";
import { account_notes } from "./operations/account-notes.ts";
import { accounts } from "./operations/accounts.ts";
import { api_keys } from "./operations/api-keys.ts";
import { assignees } from "./operations/assignees.ts";
import { audit_logs } from "./operations/audit-logs.ts";
import { auth } from "./operations/auth.ts";
import { business_units } from "./operations/business-units.ts";
import { categories } from "./operations/categories.ts";
import { company_scores } from "./operations/company-scores.ts";
import { credit_applications } from "./operations/credit-applications.ts";
import { departments } from "./operations/departments.ts";
import { dispute_attachments } from "./operations/dispute-attachments.ts";
import { dispute_notes } from "./operations/dispute-notes.ts";
import { disputes } from "./operations/disputes.ts";
import { document_attachments } from "./operations/document-attachments.ts";
import { documents } from "./operations/documents.ts";
import { payments } from "./operations/payments.ts";
import { export_runs } from "./operations/export-runs.ts";
import { reasons } from "./operations/reasons.ts";
import { resolutions } from "./operations/resolutions.ts";
import { schedules } from "./operations/schedules.ts";
import { users } from "./operations/users.ts";
import { webhooks } from "./operations/webhooks.ts";
import { RELATIVE_DAYS } from "./payments/relative-days.ts";
import { pdf_ingestion } from "./pdf-ingestion.ts";

/** All operations of the platform by noun and verb. */
export const contract = {
  auth,
  api_keys,
  users,
  disputes,
  dispute_notes,
  dispute_attachments,
  reasons,
  categories,
  departments,
  assignees,
  resolutions,
  business_units,
  company_scores,
  credit_applications,
  webhooks,
  audit_logs,
  accounts,
  account_notes,
  documents,
  document_attachments,
  payments,
  schedules,
  export_runs,
};

export type Contract = typeof contract;

/** The contract plus operations for other systems, which client and tools do not offer. */
export const platformContract = { ...contract, pdf_ingestion };

export type PlatformContract = typeof platformContract;

const listOperations = (groups: object): readonly Operation[] =>
  Object.values(groups).flatMap((noun: object): Operation[] => Object.values(noun));

export const operations = listOperations(contract);

/** The page on which people change their passwords, and the name under which a platform announces it. */
export const PASSWORD_PAGE = { name: "pages.password", path: "/account/password" } as const;

/** Answers to the MCP server name the rights of its credential in this header. */
export const HELD_RIGHTS = { name: "held_rights", header: "x-held-rights" } as const;

/** The name under which a platform announces that the caller's profile tells the time zone of each tenant. */
export const TENANT_TIME_ZONE = "tenants.time_zone";

/** Names of the additions to the interface documents: operations, parameters, a page, a header, a field and dry runs. */
export const extensions: readonly string[] = [
  ...operations.flatMap(({ id, extension, additions }) => [
    ...(extension ? [id] : []),
    ...(additions === null ? [] : [`${id}.${additions.name}`]),
  ]),
  PASSWORD_PAGE.name,
  TENANT_TIME_ZONE,
  RELATIVE_DAYS,
  HELD_RIGHTS.name,
  DRY_RUN.name,
];

export const platformOperations = listOperations(platformContract);
