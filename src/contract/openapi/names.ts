import { z } from "zod";
import * as credit_form from "../credit-form.ts";
import * as fields from "../fields.ts";
import * as dispute_summary from "../insights/dispute-summary.ts";
import * as document_summary from "../insights/document-summary.ts";
import * as payment_summary from "../insights/payment-summary.ts";
import * as insight_result from "../insights/result.ts";
import * as ingest_fields from "../ingest-fields.ts";
import { platformOperations } from "../index.ts";
import type { Operation } from "../operation.ts";
import * as account_notes from "../operations/account-notes.ts";
import * as accounts from "../operations/accounts.ts";
import * as api_keys from "../operations/api-keys.ts";
import * as assignees from "../operations/assignees.ts";
import * as audit_logs from "../operations/audit-logs.ts";
import * as auth from "../operations/auth.ts";
import * as business_units from "../operations/business-units.ts";
import * as categories from "../operations/categories.ts";
import * as company_scores from "../operations/company-scores.ts";
import * as credit_applications from "../operations/credit-applications.ts";
import * as departments from "../operations/departments.ts";
import * as dispute_attachments from "../operations/dispute-attachments.ts";
import * as dispute_notes from "../operations/dispute-notes.ts";
import * as disputes from "../operations/disputes.ts";
import * as document_attachments from "../operations/document-attachments.ts";
import * as documents from "../operations/documents.ts";
import * as payments from "../operations/payments.ts";
import * as export_runs from "../operations/export-runs.ts";
import * as reasons from "../operations/reasons.ts";
import * as resolutions from "../operations/resolutions.ts";
import * as schedules from "../operations/schedules.ts";
import * as users from "../operations/users.ts";
import * as webhooks from "../operations/webhooks.ts";
import * as pdf_ingestion from "../pdf-ingestion.ts";

const modules: readonly Record<string, unknown>[] = [
  fields,
  ingest_fields,
  credit_form,
  insight_result,
  payment_summary,
  dispute_summary,
  document_summary,
  account_notes,
  accounts,
  api_keys,
  assignees,
  audit_logs,
  auth,
  business_units,
  categories,
  company_scores,
  credit_applications,
  departments,
  dispute_attachments,
  dispute_notes,
  disputes,
  document_attachments,
  documents,
  payments,
  schedules,
  export_runs,
  reasons,
  resolutions,
  users,
  webhooks,
  pdf_ingestion,
];

/** Converts `dispute_notes.create` to `DisputeNotesCreate`. */
const toPascalCase = (id: string): string =>
  id.replaceAll(/(?:^|[._])([a-z])/g, (_whole, letter: string) => letter.toUpperCase());

/** Returns the output schema, or the schema of its items. */
const findRecordSchema = ({ output }: Operation): unknown =>
  output instanceof z.ZodArray ? output.element : output;

/** Returns component names of schemas: the export name, or a name from the operation for other bodies and outputs. */
export const collectSchemaNames = (): ReadonlyMap<unknown, string> => {
  const names = new Map<unknown, string>();
  const give = (schema: unknown, name: string): void => {
    if (schema instanceof z.ZodType && !names.has(schema)) names.set(schema, name);
  };
  for (const module of modules) {
    for (const [name, exported] of Object.entries(module)) give(exported, name);
  }
  for (const operation of platformOperations) {
    give(operation.body, `${toPascalCase(operation.id)}Body`);
    give(findRecordSchema(operation), `${toPascalCase(operation.id)}Answer`);
  }
  return names;
};
