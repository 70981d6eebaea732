/**
 * Checks and completes the rows of an exported tenant. An archive can come from anyone, so columns that follow from
 * others are computed from them, and no row names another tenant's files, an address that no webhook may have, or an
 * interval that no schedule may have.
 */
import { Problem } from "../../contract/errors.ts";
import { CallbackUrl } from "../../contract/callback-url.ts";
import { isPermission } from "../../contract/permissions.ts";
import { SOURCES } from "../../contract/payments/catalogue.ts";
import { ScheduleBody } from "../../contract/operations/schedules.ts";
import { parseIfJson, isRecord } from "../../kit/json.ts";
import { parseKey } from "../files/port.ts";
import { toApplicationRow, type WholeApplication } from "../services/credit-applications/record.ts";
import { parseAccount, parseDocument } from "../services/ingest/stored.ts";
import { toSearchColumns, type Metadata } from "../store/audit/entries.ts";
import { foldTexts } from "../store/queries/coded-table.ts";
import { fold } from "../store/engine/fold.ts";
import {
  toAccountColumns,
  toDocumentColumns,
  toDocumentKeys,
} from "../store/queries/listed-columns.ts";
import {
  listColumns,
  setStoredValues,
  TABLES as PAYMENT_TABLES,
} from "../store/queries/payments/columns.ts";
import type { Row } from "./tenant-folder.ts";

/** The tenant that the rows must belong to. */
export type Owner = { tenantId: string; connectionId: string };
type Complete = (row: Row, owner: Owner) => Row;

const refuse = (message: string): never => {
  throw new Problem("invalid_request", message);
};

const text = (row: Row, name: string): string => String(row[name] ?? "");

/** @throws {Problem} if the file is not one of the tenant's */
const checkFileKey: Complete = (row, { connectionId }) => {
  const key = row["file_key"];
  if (key === null) return row;
  if (typeof key !== "string" || !key.startsWith(`${connectionId}/`)) {
    return refuse(`The file ${String(key)} is not one of the tenant's.`);
  }
  parseKey(key);
  return row;
};

const checkCallback: Complete = (row) =>
  CallbackUrl.safeParse(row["callback_url"]).success
    ? row
    : refuse(`The webhook ${text(row, "id")} has an address that webhooks may not have.`);

const { intervalMs: Interval } = ScheduleBody.shape;

const checkSchedule: Complete = (row) =>
  Interval.safeParse(row["interval_ms"]).success && Number.isSafeInteger(row["next_run_at"])
    ? row
    : refuse(`The schedule ${text(row, "id")} has an interval that schedules may not have.`);

const checkGrants: Complete = (row) => {
  const grants = parseIfJson(text(row, "grants"));
  return Array.isArray(grants) && grants.every((grant) => isPermission(String(grant)))
    ? row
    : refuse(`The role ${text(row, "id")} has grants that are not known.`);
};

const completeCoded: Complete = (row) => ({
  ...row,
  ...foldTexts({ code: text(row, "code"), description: text(row, "description") }),
});

const completeAccount: Complete = (row) => {
  const fields = parseAccount({ fields: text(row, "fields") });
  return {
    ...row,
    name: fields.name,
    currency: fields.currency ?? null,
    parent_account_number: fields.parent_account_number ?? null,
    ...toAccountColumns(text(row, "account_number"), fields),
  };
};

const completeDocument: Complete = (row) => {
  const fields = parseDocument({ fields: text(row, "fields") });
  const documentNumber = text(row, "document_number");
  return {
    ...row,
    account_number: fields.account_number,
    invoice_num: fields.invoice_num ?? null,
    currency: fields.currency ?? fields.original_currency ?? null,
    ...toDocumentColumns(documentNumber, fields),
    ...toDocumentKeys(documentNumber, fields),
  };
};

const completeDispute: Complete = (row) => {
  const name = row["account_name"];
  const amount = Number(text(row, "amount"));
  if (!Number.isFinite(amount)) refuse(`The dispute ${text(row, "id")} has no amount.`);
  return {
    ...row,
    account_name_folded: name === null ? null : fold(String(name)),
    amount_order: amount,
  };
};

const completeApplication: Complete = (row, { tenantId }) => {
  const [detail, summary] = ["detail", "summary"].map((name) => parseIfJson(text(row, name)));
  if (!isRecord(detail) || !isRecord(summary)) {
    return refuse(`The credit application ${text(row, "id")} cannot be read.`);
  }
  const { autoDecisioned, references, company } = summary;
  const { dba } = company as { dba: unknown };
  const whole = {
    ...detail,
    company: { ...(detail["company"] as object), dba },
    autoDecisioned,
    references,
  };
  return toApplicationRow(tenantId, whole as WholeApplication);
};

const completePayments = Object.fromEntries(
  SOURCES.map((source): [string, Complete] => {
    const columns = listColumns(source).filter(({ name, compared }) => name !== compared);
    return [
      PAYMENT_TABLES[source],
      (row) => {
        const own = { ...row };
        // Exact text stays as it is; its second column follows from it.
        for (const column of columns) {
          const stored = own[column.name] ?? null;
          setStoredValues(own, column, stored);
          own[column.name] = stored;
        }
        return own;
      },
    ];
  }),
);

const completeAuditEntry: Complete = (row) => {
  const metadata = parseIfJson(text(row, "metadata"));
  if (!isRecord(metadata)) return refuse(`The audit entry ${text(row, "id")} cannot be read.`);
  const { endpoint, action } = { endpoint: text(row, "endpoint"), action: row["action"] };
  const named = { endpoint, action: action == null ? null : String(action) };
  return { ...row, ...toSearchColumns({ ...named, metadata: metadata as Metadata }) };
};

const COMPLETE: Readonly<Record<string, Complete>> = {
  ...completePayments,
  // A switch of a tenant names no other tenant.
  tenants: (row) => ({ ...row, is_partner: 0, test_tenant_id: null }),
  users: (row, { tenantId }) => ({
    ...row,
    email_folded: fold(text(row, "email")),
    default_tenant_id: tenantId,
  }),
  categories: completeCoded,
  reasons: completeCoded,
  departments: completeCoded,
  resolutions: (row) => ({ ...row, code_folded: fold(text(row, "code")) }),
  assignees: (row) => ({
    ...row,
    email_folded: fold(text(row, "email")),
    name_folded: fold(`${text(row, "first_name")} ${text(row, "last_name")}`),
  }),
  disputes: completeDispute,
  dispute_attachments: checkFileKey,
  accounts: completeAccount,
  account_notes: (row) => ({ ...row, effective_at: Date.parse(text(row, "effective_date")) }),
  documents: completeDocument,
  document_attachments: checkFileKey,
  credit_applications: completeApplication,
  schedules: checkSchedule,
  run_chunks: checkFileKey,
  webhooks: checkCallback,
  webhook_deliveries: checkCallback,
  roles: checkGrants,
  audit_logs: completeAuditEntry,
};

/** What only this installation can vouch for: the outcome of a scan, and how an undo overwrites records. */
const DISTRUST: Readonly<Record<string, (row: Row) => Row[]>> = {
  dispute_attachments: (row) =>
    row["file_key"] === null ? [row] : [{ ...row, status: "PendingScan", scan_warnings: null }],
  import_changes: () => [],
};

/** Returns the rows of a table of a folder of another installation as they can be trusted. */
export const distrustRows = (table: string, rows: readonly Row[]): Row[] =>
  rows.flatMap(DISTRUST[table] ?? ((row) => [row]));

/**
 * Returns the rows of a table with their derived columns.
 *
 * @throws {Problem} invalid_request
 */
export const completeRows = (table: string, rows: readonly Row[], owner: Owner): Row[] => {
  const complete = COMPLETE[table];
  if (complete === undefined) return [...rows];
  return rows.map((row) => {
    try {
      return complete(row, owner);
    } catch (error) {
      if (error instanceof Problem) throw error;
      return refuse(`A row of ${table} cannot be read.`);
    }
  });
};
