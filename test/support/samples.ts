import type { Operation } from "../../src/contract/operation.ts";
import { CALLBACK } from "./export-records.ts";
import { ACCOUNT, DOCUMENT } from "./ingest.ts";
import type { Records } from "./records.ts";

export type Arguments = Record<string, unknown>;
type Sample = (records: Records, fresh: string) => Arguments;

/**
 * Valid arguments of each operation, without the tenant: the first one succeeds; the others name further records.
 * `fresh` is part of values that must be new.
 */
export const SAMPLES: Record<string, readonly Sample[]> = {
  "auth.login": [({ email, password }) => ({ email, password })],
  "auth.verify_session": [({ accessToken }) => ({ accessToken })],
  "auth.logout": [() => ({ accessToken: "no-such-session" })],
  "api_keys.create": [() => ({})],
  "api_keys.delete": [({ keyId }) => ({ keyId })],
  "users.list": [() => ({})],
  "users.list_v1": [() => ({})],
  "users.profile": [() => ({})],
  "disputes.get": [({ dispute: { disputeId } }) => ({ disputeId })],
  "disputes.list": [
    () => ({}),
    ({ dispute }) => ({ DocumentNumber: dispute.documentNumber }),
    ({ dispute }) => ({ AccountNumber: dispute.accountNumber }),
    ({ used }) => ({ AssigneeId: used.assigneeId }),
    ({ used }) => ({ DepartmentId: used.departmentId }),
    ({ used }) => ({ ReasonName: used.reasonName }),
    ({ used }) => ({ DepartmentName: used.reasonName }),
    ({ used }) => ({ CategoryName: used.reasonName }),
  ],
  "disputes.summary": [
    () => ({ groupBy: ["status"] }),
    ({ dispute }) => ({ accountNumber: dispute.accountNumber }),
    ({ dispute }) => ({ documentNumber: dispute.documentNumber }),
  ],
  "disputes.create": [
    ({ reason }, fresh) => ({ ...newDispute(fresh), reasonId: reason.reasonId }),
    ({ reason }, fresh) => ({ ...newDispute(fresh), reasonCode: reason.reasonCode }),
    ({ reason }, fresh) => ({
      ...newDispute(fresh),
      externalReasonCode: reason.externalReasonCode,
    }),
    ({ used, assignee }, fresh) => ({
      ...newDispute(fresh),
      reasonId: used.reasonId,
      assigneeId: assignee.assigneeId,
    }),
  ],
  "disputes.update": [
    ({ dispute: { disputeId } }) => ({ disputeId, amount: 7 }),
    ({ dispute: { disputeId }, reason }) => ({ disputeId, reasonId: reason.reasonId }),
    ({ dispute: { disputeId }, reason }) => ({ disputeId, reasonCode: reason.reasonCode }),
    ({ dispute: { disputeId }, assignee }) => ({ disputeId, assigneeId: assignee.assigneeId }),
    ({ dispute: { disputeId }, assignee }) => ({
      disputeId,
      assigneeEmail: assignee.assigneeEmail,
    }),
    ({ dispute: { disputeId }, resolution }) => ({
      disputeId,
      status: 1,
      resolutionId: resolution.resolutionId,
    }),
    ({ dispute: { disputeId }, resolution }) => ({
      disputeId,
      status: 1,
      resolutionCode: resolution.resolutionCode,
    }),
  ],
  "disputes.delete": [({ dispute: { disputeId } }) => ({ disputeId })],
  "disputes.list_by_document_numbers": [
    ({ dispute: { accountNumber, documentNumber } }) => ({
      accountNumber,
      documentNumbers: [documentNumber],
    }),
  ],
  "documents.lookup": [({ dispute: { documentNumber } }) => ({ numbers: [documentNumber] })],
  "disputes.changes": [() => ({ since: "2020-01-01T00:00:00Z", until: "2030-01-01T00:00:00Z" })],
  "disputes.precedents": [({ dispute: { disputeId } }) => ({ disputeId })],
  "disputes.triage": [() => ({})],
  "disputes.activity": [({ dispute: { disputeId } }) => ({ disputeIds: [disputeId] })],
  "disputes.list_by_ids": [({ dispute: { disputeId } }) => ({ disputeIds: [disputeId] })],
  "dispute_notes.get": [({ dispute: { disputeId }, noteId }) => ({ disputeId, noteId })],
  "dispute_notes.list": [({ dispute: { disputeId } }) => ({ disputeId })],
  "dispute_notes.create": [({ dispute: { disputeId } }, fresh) => ({ disputeId, content: fresh })],
  "dispute_notes.update": [
    ({ dispute: { disputeId }, noteId }, fresh) => ({ disputeId, noteId, content: fresh }),
  ],
  "dispute_notes.delete": [({ dispute: { disputeId }, noteId }) => ({ disputeId, noteId })],
  "dispute_attachments.get": [
    ({ dispute: { disputeId }, attachmentId }) => ({ disputeId, attachmentId }),
  ],
  "dispute_attachments.list": [({ dispute: { disputeId } }) => ({ disputeId })],
  "dispute_attachments.create": [
    ({ dispute: { disputeId } }, fresh) => ({ disputeId, fileName: `${fresh}.pdf` }),
  ],
  "dispute_attachments.update": [
    ({ dispute: { disputeId }, attachmentId }) => ({ disputeId, attachmentId, visibility: "All" }),
  ],
  "dispute_attachments.delete": [
    ({ dispute: { disputeId }, attachmentId }) => ({ disputeId, attachmentId }),
  ],
  "reasons.get": [
    ({ shelf, reason }) => ({ categoryCode: shelf.categoryCode, reasonCode: reason.reasonCode }),
  ],
  "reasons.get_by_id": [({ reason }) => ({ reasonId: reason.reasonId })],
  "reasons.list": [() => ({})],
  "reasons.list_by_category": [({ shelf }) => ({ categoryCode: shelf.categoryCode })],
  "reasons.create": [
    ({ shelf }, fresh) => ({ ...named(fresh), categoryId: shelf.categoryId }),
    ({ shelf }, fresh) => ({ ...named(fresh), categoryCode: shelf.categoryCode }),
  ],
  "reasons.update": [
    ({ reason, shelf }) => ({ reasonId: reason.reasonId, categoryId: shelf.categoryId }),
    ({ reason, category }) => ({ reasonId: reason.reasonId, categoryCode: category.categoryCode }),
  ],
  "reasons.delete": [
    ({ shelf, reason }) => ({ categoryCode: shelf.categoryCode, reasonCode: reason.reasonCode }),
  ],
  "categories.get": [({ category }) => ({ categoryCode: category.categoryCode })],
  "categories.get_by_id": [({ category }) => ({ categoryId: category.categoryId })],
  "categories.list": [() => ({})],
  "categories.create": [
    (_records, fresh) => named(fresh),
    ({ reason }, fresh) => ({ ...named(fresh), defaultInternalReasonId: reason.reasonId }),
  ],
  "categories.update": [
    ({ category }, fresh) => ({ categoryId: category.categoryId, description: fresh }),
    ({ category, reason }) => ({
      categoryId: category.categoryId,
      defaultInternalReasonId: reason.reasonId,
    }),
  ],
  "categories.delete": [({ category }) => ({ categoryCode: category.categoryCode })],
  "departments.get": [({ department }) => ({ departmentCode: department.departmentCode })],
  "departments.get_by_id": [({ department }) => ({ departmentId: department.departmentId })],
  "departments.list": [() => ({})],
  "departments.create": [(_records, fresh) => named(fresh)],
  "departments.update": [
    ({ department }, fresh) => ({ departmentId: department.departmentId, description: fresh }),
  ],
  "departments.delete": [({ department }) => ({ departmentId: department.departmentId })],
  "departments.delete_by_code": [
    ({ department }) => ({ departmentCode: department.departmentCode }),
  ],
  "assignees.get": [({ assignee }) => ({ assigneeEmail: assignee.assigneeEmail })],
  "assignees.get_by_id": [({ assignee }) => ({ assigneeId: assignee.assigneeId })],
  "assignees.list": [() => ({}), ({ desk }) => ({ DepartmentId: desk.departmentId })],
  "assignees.create": [
    ({ desk }, fresh) => ({ departmentId: desk.departmentId, person: newPerson(fresh) }),
    ({ desk }, fresh) => ({ departmentCode: desk.departmentCode, person: newPerson(fresh) }),
  ],
  "assignees.update": [
    ({ assignee, desk }) => ({
      assigneeEmail: assignee.assigneeEmail,
      departmentId: desk.departmentId,
    }),
    ({ assignee, department }) => ({
      assigneeEmail: assignee.assigneeEmail,
      departmentCode: department.departmentCode,
    }),
    ({ assignee, desk, userId }) => ({
      assigneeEmail: assignee.assigneeEmail,
      departmentId: desk.departmentId,
      userId,
    }),
  ],
  "assignees.delete": [({ assignee }) => ({ assigneeId: assignee.assigneeId })],
  "assignees.delete_by_email": [
    ({ desk, assignee }) => ({
      departmentCode: desk.departmentCode,
      assigneeEmail: assignee.assigneeEmail,
    }),
  ],
  "resolutions.get": [({ resolution }) => ({ resolutionCode: resolution.resolutionCode })],
  "resolutions.get_by_id": [({ resolution }) => ({ resolutionId: resolution.resolutionId })],
  "resolutions.list": [() => ({})],
  "resolutions.create": [(_records, fresh) => named(fresh)],
  "resolutions.update": [
    ({ resolution }, fresh) => ({ resolutionId: resolution.resolutionId, description: fresh }),
  ],
  "resolutions.delete": [({ resolution }) => ({ resolutionId: resolution.resolutionId })],
  "resolutions.delete_by_code": [
    ({ resolution }) => ({ resolutionCode: resolution.resolutionCode }),
  ],
  "business_units.list": [() => ({})],
  "company_scores.get": [({ company }) => company],
  "credit_applications.list": [
    () => ({
      activityType: "LASTMODIFIED",
      startDate: "2026-01-01",
      endDate: "2026-12-31",
      applicationStatusType: ["Under Review"],
    }),
  ],
  "credit_applications.get": [({ application }) => application],
  "audit_logs.list": [() => ({}), ({ auditCursor }) => ({ limit: 1, cursor: auditCursor })],
  "schedules.list": [() => ({})],
  "schedules.create": [
    () => ({
      intervalMs: 300_000,
      source: "cashapp",
      filters: { paymentAmount: { gte: 0 } },
    }),
  ],
  "schedules.delete": [({ schedule: { scheduleId } }) => ({ id: scheduleId })],
  "export_runs.status": [({ schedule: { scheduleId } }) => ({ scheduleId })],
  "export_runs.data": [
    ({ schedule: { scheduleId } }) => ({ scheduleId }),
    ({ schedule: { scheduleId, runId } }) => ({ scheduleId, runId }),
  ],
  "payments.schema": [() => ({})],
  "payments.summary": [() => ({ source: "cashapp", groupBy: ["payerName"] })],
  "payments.query": [() => ({ source: "cashapp", filters: { paymentAmount: { gte: 0 } } })],
  "webhooks.list": [() => ({})],
  "webhooks.create": [
    (_records, fresh) => ({ callbackUrl: `${CALLBACK}/${fresh}` }),
    ({ schedule: { scheduleId } }, fresh) => ({ callbackUrl: `${CALLBACK}/${fresh}`, scheduleId }),
  ],
  "webhooks.list_deliveries": [({ webhook }) => webhook],
  "webhooks.delete": [({ webhook }) => webhook],
  "accounts.get": [({ account: { account_number } }) => ({ account_number })],
  "accounts.list": [
    () => ({}),
    ({ account: { account_number } }) => ({ parent_account_number: account_number }),
  ],
  "accounts.create": [(_records, fresh) => ({ account_number: fresh, ...ACCOUNT })],
  "accounts.replace": [(_records, fresh) => ({ account_number: fresh, ...ACCOUNT })],
  "accounts.update": [
    ({ account: { account_number } }, fresh) => ({ account_number, description: fresh }),
  ],
  "account_notes.get": [({ account }) => account],
  "account_notes.create": [
    ({ account: { account_number } }, fresh) => ({
      account_number,
      reference: fresh,
      body: fresh,
    }),
  ],
  "documents.get": [({ document }) => document],
  "documents.list": [() => ({}), ({ account: { account_number } }) => ({ account_number })],
  "documents.summary": [() => ({ groupBy: ["account"] })],
  "documents.create": [(_records, fresh) => ({ document_number: fresh, ...DOCUMENT })],
  "documents.replace": [(_records, fresh) => ({ document_number: fresh, ...DOCUMENT })],
  "documents.update": [({ document }, fresh) => ({ ...document, comment: fresh })],
  "documents.close": [({ document }) => ({ ...document, closure_reason: "paid" })],
  "document_attachments.list": [({ document }) => document],
  "document_attachments.get": [({ document, attachment }) => ({ ...document, ...attachment })],
};

const named = (fresh: string): Arguments => ({ code: fresh, description: fresh });

const newDispute = (fresh: string): Arguments => ({
  amount: 10,
  accountNumber: fresh,
  documentNumber: fresh,
});

const newPerson = (fresh: string): Arguments => ({
  firstName: fresh,
  lastName: fresh,
  email: `${fresh}@work.example`,
});

type Wire = { method: string; path: string; body: Arguments | undefined };

const pick = (shape: object | undefined, args: Arguments): Arguments =>
  Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(shape ?? {}, name)));

/** Returns the request for arguments on one of an operation's routes. */
export const wire = (
  operation: Operation,
  route: Pick<Operation, "method" | "path">,
  args: Arguments,
): Wire => {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(args[name])),
  );
  const query = new URLSearchParams(
    Object.entries(pick(operation.query.shape, args)).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
  ).toString();
  return {
    method: route.method,
    path: query === "" ? path : `${path}?${query}`,
    body:
      operation.body === null || route.method === "GET"
        ? undefined
        : pick(operation.body.shape, args),
  };
};
