import { randomUUID } from "node:crypto";
import type { Dispute } from "../../src/contract/operations/disputes.ts";
import type { DisputeAttachment } from "../../src/contract/operations/dispute-attachments.ts";
import type { DisputeNote } from "../../src/contract/operations/dispute-notes.ts";
import { createReply, type ScriptedReply } from "./script.ts";

const AT = "2026-11-20T12:00:00.123Z";
const audit = { createUser: "anna@example.com", createDate: AT, updateUser: "b", updateDate: AT };

export const dispute = (index: number, more: Partial<Dispute> = {}): Dispute => ({
  disputeId: randomUUID(),
  disputeCode: `D-INV-${index}-01`,
  tenantId: "tenant-1",
  categoryId: randomUUID(),
  categoryName: "Pricing",
  externalReasonCategoryId: null,
  externalReasonCategoryName: null,
  reasonId: randomUUID(),
  reasonName: "Price difference",
  externalReasonId: null,
  externalReasonName: null,
  assigneeId: randomUUID(),
  assigneeName: "Maria Lopez",
  departmentId: randomUUID(),
  departmentName: "Sales",
  status: 0,
  amount: 1204.55,
  isValid: false,
  resolutionId: null,
  resolutionCode: null,
  closedDate: null,
  platformAccountId: null,
  documentNumber: `INV-${index}`,
  poNumber: null,
  accountNumber: "ACC-1",
  accountName: "Northwind Traders",
  userId: null,
  currencyCode: "USD",
  originSystem: "api",
  ...audit,
  ...more,
});

export const createNote = (index: number, content: string): DisputeNote => ({
  disputeNoteId: `note-${index}`,
  tenantId: "tenant-1",
  disputeId: "d-1",
  content,
  visibility: "Internal",
  ...audit,
});

export const createDisputeFile = (
  index: number,
  more: Partial<DisputeAttachment> = {},
): DisputeAttachment => ({
  attachmentId: `file-${index}`,
  tenantId: "tenant-1",
  disputeId: "d-1",
  fileName: `claim-${index}.txt`,
  downloadUrl: null,
  uploadId: `file-${index}`,
  status: "Available",
  visibility: "Internal",
  attachmentStorageKey: `tenant-1/d-1/file-${index}`,
  failureReasons: [],
  ...audit,
  ...more,
});

export const createMany = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Numbered pages over rows that a test may change between requests. */
export const servePages =
  (rows: readonly unknown[], { total = true } = {}): ScriptedReply =>
  (args) => {
    const page = Number(args["Page"] ?? args["page"]);
    const size = Number(args["PageSize"] ?? args["pageSize"]);
    const from = (page - 1) * size;
    return createReply(rows.slice(from, from + size), { total: total ? rows.length : null })();
  };

export const createAuditEntry = (index: number) => ({
  id: `entry-${index}`,
  method: "GET",
  endpoint: "/dispute/v1/tenants/{tenantId}/disputes",
  action: "dispute.listed",
  statusCode: 200,
  metadata: { mcpTool: "disputes_list" },
  tenantId: "tenant-1",
  timestamp: AT,
});

/** Pages of the audit log; the cursor is the index of the next row. */
export const serveAuditPages =
  (rows: readonly unknown[]): ScriptedReply =>
  (args) => {
    const from = args["cursor"] === undefined ? 0 : Number(String(args["cursor"]).slice(3));
    const data = rows.slice(from, from + Number(args["limit"]));
    const next = from + data.length;
    const hasMore = next < rows.length;
    const cursor = hasMore ? `at-${next}` : null;
    return { data, pagination: { cursor, hasMore, rowCount: data.length } };
  };
