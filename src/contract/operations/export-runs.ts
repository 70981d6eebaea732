import { z } from "zod";
import { Cursor, Pagination, RecordId, Timestamp } from "../fields.ts";
import { defineOperations } from "../operation.ts";
import { MAX_ROWS } from "../payments/query.ts";
import { PaymentRow } from "./payments.ts";

export const RUN_STATUSES = ["pending", "running", "completed", "failed", "canceled"] as const;

/** A run of a schedule with its outcome. */
export const ExportRun = z.object({
  runId: z.string(),
  scheduleId: z.string(),
  status: z.enum(RUN_STATUSES),
  startedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
  rowCount: z.int(),
  errorStage: z.string().nullable(),
  errorDetail: z.string().nullable(),
});
export type ExportRun = z.infer<typeof ExportRun>;

const ExportRunPage = z.object({
  schedule: z.object({
    id: z.string(),
    nextRunAt: Timestamp.nullable(),
    deleted: z.boolean(),
  }),
  data: z.array(ExportRun),
  pagination: Pagination,
});

const RunRows = z.object({
  runId: z.string(),
  scheduleId: z.string(),
  status: z.enum(RUN_STATUSES),
  completedAt: Timestamp,
  data: z.array(PaymentRow),
  pagination: Pagination,
});
export type RunRows = z.infer<typeof RunRows>;

const params = z.strictObject({ scheduleId: RecordId.describe("from schedules_list") });
const cursor = Cursor.optional();

export const export_runs = defineOperations("export", "export_runs", {
  status: {
    method: "GET",
    path: "/api/v1/remittance-export/export-runs/{scheduleId}/status",
    access: "export:read",
    summary: "List a schedule's runs, newest first, and its next run time.",
    params,
    query: z.strictObject({
      cursor,
      limit: z.int().min(1).max(100).optional().meta({ description: "default 100" }),
    }),
    output: ExportRunPage,
    audit: "export.status_read",
  },
  data: {
    method: "GET",
    path: "/api/v1/remittance-export/export-runs/{scheduleId}/data",
    access: "export:read",
    summary: "Read the stored rows of an export run.",
    params,
    query: z.strictObject({
      runId: RecordId.optional().meta({ description: "default: newest completed run" }),
      cursor,
      limit: z.int().min(1).max(MAX_ROWS).optional().meta({ description: "default 500" }),
    }),
    output: RunRows,
    list: { style: "run", anonymous: true },
    errors: ["conflict", "gone"],
    audit: "export.data_read",
  },
});
