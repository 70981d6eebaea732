import { z } from "zod";
import { RecordId, text, Timestamp } from "../fields.ts";
import { defineOperations } from "../operation.ts";
import { getSourceMetadata, SOURCES } from "../payments/catalogue.ts";
import { Filters, selection } from "../payments/query.ts";

const MIN_INTERVAL_MS = 300_000;
const MAX_INTERVAL_MS = 31_536_000_000;

/** A payment query that runs at a fixed interval. */
export const Schedule = z.object({
  id: z.string(),
  tenantId: z.string(),
  scheduleName: z.string().nullable(),
  intervalMs: z.int(),
  source: z.enum(SOURCES),
  fields: z.array(z.string()).meta({ description: "empty: core fields" }),
  filters: Filters,
  nextRunAt: Timestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Schedule = z.infer<typeof Schedule>;

export const ScheduleBody = z.strictObject({
  scheduleName: text(200).nullable().optional().meta({ description: "a label" }),
  intervalMs: z
    .int()
    .min(MIN_INTERVAL_MS)
    .max(MAX_INTERVAL_MS)
    .meta({ description: "milliseconds between runs, at least 300000; 86400000 is one day" }),
  firstRunAt: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: "date-time; default one interval from now" }),
  ...selection,
  filters: Filters.refine((filters) => Object.keys(filters).length > 0, {
    error: "must name at least one condition",
    params: { code: "empty" },
  }),
});

export const schedules = defineOperations("export", "schedules", {
  list: {
    method: "GET",
    path: "/api/v1/remittance-export/schedules",
    access: "export:read",
    summary: "List export schedules.",
    output: z.object({ data: z.array(Schedule) }),
    audit: "schedule.listed",
  },
  create: {
    method: "POST",
    path: "/api/v1/remittance-export/schedules",
    access: "export:manage",
    summary: "Schedule a recurring payment query; each run stores its rows.",
    body: ScheduleBody,
    lateValidation: true,
    output: Schedule,
    errors: ["conflict"],
    audit: "schedule.created",
    auditMetadata: getSourceMetadata,
  },
  delete: {
    method: "DELETE",
    path: "/api/v1/remittance-export/schedules/{id}",
    access: "export:manage",
    summary: "Delete a schedule; its past runs remain.",
    params: z.strictObject({ id: RecordId.describe("of the schedule") }),
    output: null,
    effects: [{ kind: "deletes", target: "schedule" }],
    audit: "schedule.deleted",
    auditMetadata: ({ params }) => ({ scheduleId: String(params["id"]) }),
  },
});
