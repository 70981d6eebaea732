import { ATTACHMENT_JOB } from "./dispute-attachments/job.ts";
import { planRemoval } from "./disputes/removal.ts";
import { RUN_JOB, SCHEDULE_JOB } from "../exports/schedule-job.ts";
import { addJob } from "../store/queries/jobs.ts";
import type { Db } from "../store/port.ts";
import { DELIVERY_KIND } from "../webhooks/events.ts";

type Tenant = { tenantId: string; now: number };

const planSchedules = async (tx: Db, tenantId: string): Promise<void> => {
  const rows = await tx
    .selectFrom("schedules")
    .select(["id", "next_run_at"])
    .where("tenant_id", "=", tenantId)
    .where("deleted_at", "is", null)
    .execute();
  for (const { id, next_run_at: dueAt } of rows) {
    await addJob(tx, { kind: SCHEDULE_JOB, id, tenantId, lane: id, dueAt });
  }
};

const planRuns = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  const rows = await tx
    .selectFrom("export_runs")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("status", "in", ["pending", "running"])
    .execute();
  for (const { id } of rows) {
    await addJob(tx, { kind: RUN_JOB, id, tenantId, lane: tenantId, dueAt: now });
  }
};

const planDeliveries = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  const rows = await tx
    .selectFrom("webhook_deliveries")
    .select(["id", "webhook_id"])
    .where("tenant_id", "=", tenantId)
    .execute();
  for (const { id, webhook_id: lane } of rows) {
    await addJob(tx, { kind: DELIVERY_KIND, id, tenantId, lane, dueAt: now });
  }
};

/** Plans the scan of uploaded files, and the end of uploads that have not begun. */
const planAttachments = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  const rows = await tx
    .selectFrom("dispute_attachments")
    .select(["id", "file_key", "upload_expires_at"])
    .where("tenant_id", "=", tenantId)
    .where("status", "=", "PendingScan")
    .execute();
  for (const { id, file_key, upload_expires_at: expiresAt } of rows) {
    const dueAt = file_key === null ? expiresAt : now;
    await addJob(tx, { kind: ATTACHMENT_JOB, id, tenantId, lane: tenantId, dueAt });
  }
};

/** Plans the removal of the notes and files of deleted disputes. */
const planRemovals = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  const ids = new Set<string>();
  for (const table of ["dispute_notes", "dispute_attachments"] as const) {
    const rows = await tx
      .selectFrom(table)
      .select("dispute_id")
      .distinct()
      .where("tenant_id", "=", tenantId)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("disputes as d")
              .select("d.id")
              .where("d.tenant_id", "=", tenantId)
              .whereRef("d.id", "=", `${table}.dispute_id`),
          ),
        ),
      )
      .execute();
    for (const { dispute_id } of rows) ids.add(dispute_id);
  }
  for (const id of ids) await planRemoval(tx, { tenantId, now }, id);
};

/** Plans the work that waits for a tenant's records. */
export const planJobs = async (tx: Db, tenant: Tenant): Promise<void> => {
  await planSchedules(tx, tenant.tenantId);
  await planRuns(tx, tenant);
  await planDeliveries(tx, tenant);
  await planAttachments(tx, tenant);
  await planRemovals(tx, tenant);
};
