import { z } from "zod";
import { Cursor, requiredText, text, Timestamp } from "../fields.ts";
import { defineOperations } from "../operation.ts";

/** The audit entry of one request. Old entries have no `action`. */
export const AuditEntry = z.object({
  id: z.string(),
  method: z.string(),
  endpoint: z.string(),
  action: z.string().optional(),
  statusCode: z.int(),
  metadata: z.record(z.string(), z.unknown()),
  tenantId: z.string(),
  timestamp: Timestamp,
});
export type AuditEntry = z.infer<typeof AuditEntry>;

const AuditPage = z.object({
  data: z.array(AuditEntry),
  pagination: z.object({
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
    rowCount: z.int(),
  }),
});
export type AuditPage = z.infer<typeof AuditPage>;

const DateOrDateTime = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: "must be a date, or a date-time with a time zone",
  })
  .meta({ type: "string", anyOf: undefined, description: "date-time, or date: midnight UTC" });

export const audit_logs = defineOperations("export", "audit_logs", {
  list: {
    method: "GET",
    path: "/api/v1/remittance-export/audit-logs",
    access: "audit:read",
    summary: "List the tenant's audit log, newest first.",
    query: z.strictObject({
      from: DateOrDateTime.optional(),
      to: DateOrDateTime.optional(),
      endpoint: text(2048).optional().meta({ description: "exact route path" }),
      statusCode: z.int().optional().describe("HTTP status"),
      scheduleId: text(128).optional().describe("entries about it"),
      action: text(128).optional().meta({ description: "such as dispute.updated" }),
      resourceId: requiredText(128).optional().describe("id or number of a record"),
      q: text(200).optional().meta({ description: "part of endpoint, action or metadata" }),
      cursor: Cursor.optional(),
      limit: z.int().min(1).max(100_000).optional().meta({ description: "default 500" }),
    }),
    additions: { name: "resource", query: ["resourceId"], offered: true },
    output: AuditPage,
    list: { defaultFields: ["id", "timestamp", "action", "endpoint", "statusCode", "metadata"] },
    audit: "audit.queried",
  },
});
