import type { Dispute } from "../../../contract/operations/disputes.ts";
import { formatIfAny } from "../../../kit/clock.ts";
import type { NamedDispute } from "../../store/queries/disputes.ts";
import { auditFields } from "../records.ts";

/** Returns a dispute as lookups and changes answer it. */
export const omitAccountName = (row: NamedDispute) => ({
  disputeId: row.id,
  disputeCode: row.code,
  tenantId: row.tenant_id,
  categoryId: row.category_id,
  categoryName: row.category_name,
  externalReasonCategoryId: row.external_category_id,
  externalReasonCategoryName: row.external_category_name,
  reasonId: row.reason_id,
  reasonName: row.reason_name,
  externalReasonId: row.external_reason_id,
  externalReasonName: row.external_reason_name,
  assigneeId: row.assignee_id,
  assigneeName:
    row.assignee_first_name === null
      ? null
      : `${row.assignee_first_name} ${row.assignee_last_name ?? ""}`.trim(),
  departmentId: row.department_id,
  departmentName: row.department_name,
  status: row.status,
  amount: Number(row.amount),
  isValid: row.is_valid === 1,
  resolutionId: row.resolution_id,
  resolutionCode: row.resolution_code,
  closedDate: formatIfAny(row.closed_at),
  platformAccountId: null,
  documentNumber: row.document_number,
  poNumber: row.po_number,
  accountNumber: row.account_number,
  userId: row.assignee_user_id,
  currencyCode: row.currency_code,
  originSystem: row.origin,
  ...auditFields(row),
});

/** Returns a dispute with the name of its account. */
export const toDispute = (row: NamedDispute): Dispute => ({
  ...omitAccountName(row),
  accountName: row.known_account_name ?? row.account_name,
});
