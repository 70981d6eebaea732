import { ATTACHMENT_JOB } from "./dispute-attachments/job.ts";
import { planMatching } from "./payments/matching/job.ts";
import { planRemoval } from "./disputes/removal.ts";
import { RUN_JOB, SCHEDULE_JOB } from "../exports/schedule-job.ts";
import { addJob } from "../store/queries/jobs.ts";
import type { Db } from "../store/port.ts";
import { listUnscanned } from "../store/queries/dispute-attachments.ts";
import { listUnremoved } from "../store/queries/dispute-notes.ts";
import { findDocumentsByKeys } from "../store/queries/documents.ts";
import { listUnfinishedRuns } from "../store/queries/export-runs.ts";
import { listWaitingKeys } from "../store/queries/payment-matching.ts";
import { listSchedules } from "../store/queries/schedules.ts";
import { listDeliveries } from "../store/queries/webhook-deliveries.ts";
import { DELIVERY_KIND } from "../webhooks/events.ts";

type Tenant = { tenantId: string; now: number };

const planSchedules = async (tx: Db, tenantId: string): Promise<void> => {
  for (const { id, next_run_at: dueAt } of await listSchedules(tx, tenantId)) {
    await addJob(tx, { kind: SCHEDULE_JOB, id, tenantId, lane: id, dueAt });
  }
};

const planRuns = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  for (const id of await listUnfinishedRuns(tx, tenantId)) {
    await addJob(tx, { kind: RUN_JOB, id, tenantId, lane: tenantId, dueAt: now });
  }
};

const planDeliveries = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  for (const { id, webhook_id: lane } of await listDeliveries(tx, tenantId)) {
    await addJob(tx, { kind: DELIVERY_KIND, id, tenantId, lane, dueAt: now });
  }
};

/** Plans the scan of uploaded files, and the end of uploads that have not begun. */
const planAttachments = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  for (const { id, file_key, upload_expires_at: expiresAt } of await listUnscanned(tx, tenantId)) {
    const dueAt = file_key === null ? expiresAt : now;
    await addJob(tx, { kind: ATTACHMENT_JOB, id, tenantId, lane: tenantId, dueAt });
  }
};

/** Plans the removal of the notes and files of deleted disputes. */
const planRemovals = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  for (const id of await listUnremoved(tx, tenantId)) {
    await planRemoval(tx, { tenantId, now }, id);
  }
};

const KEYS_AT_ONCE = 200;

/** Plans the match of payments that wait with the documents that have come since. */
const planMatchings = async (tx: Db, { tenantId, now }: Tenant): Promise<void> => {
  const keysAfter = (after: string) => listWaitingKeys(tx, tenantId, { after, most: KEYS_AT_ONCE });
  let keys = await keysAfter("");
  while (keys.length > 0) {
    for (const row of await findDocumentsByKeys(tx, tenantId, { keys, numbers: [] })) {
      await planMatching(tx, row, now);
    }
    keys = await keysAfter(keys.at(-1) ?? "");
  }
};

/** Plans the work that waits for a tenant's records. */
export const planJobs = async (tx: Db, tenant: Tenant): Promise<void> => {
  await planSchedules(tx, tenant.tenantId);
  await planRuns(tx, tenant);
  await planDeliveries(tx, tenant);
  await planAttachments(tx, tenant);
  await planRemovals(tx, tenant);
  await planMatchings(tx, tenant);
};
