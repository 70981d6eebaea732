import { type Clock, MINUTE, SECOND } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { hasUnfinished } from "../store/queries/export-runs.ts";
import { addJob } from "../store/queries/jobs.ts";
import type { Db, Store } from "../store/port.ts";
import { findSchedule, updateSchedule } from "../store/queries/schedules.ts";
import type { ExportRunRow, ScheduleRow } from "../store/tables/schema.ts";
import type { Job, JobKind } from "../jobs/job.ts";
import { findNextSlot } from "./slot.ts";

export const SCHEDULE_JOB = "schedule";
export const RUN_JOB = "export-run";

type Needs = { store: Store; clock: Clock; newId: NewId };

/** Adds the run of a slot; any process can work on it. */
const addRun = async (tx: Db, schedule: ScheduleRow, id: string, now: number): Promise<void> => {
  const { tenant_id, id: schedule_id, next_run_at: slot_at } = schedule;
  const run: ExportRunRow = {
    tenant_id,
    id,
    schedule_id,
    slot_at,
    status: "pending",
    created_at: now,
    started_at: null,
    completed_at: null,
    row_count: 0,
    error_stage: null,
    error_detail: null,
    purged_at: null,
  };
  await insertAll(tx, "export_runs", [run]);
  await addJob(tx, { kind: RUN_JOB, id, tenantId: tenant_id, lane: tenant_id, dueAt: now });
};

/** Adds the run of the due slot, unless a run is still active, and plans the next slot. */
const bookSlot = ({ store, clock, newId }: Needs, job: Job): Promise<void> =>
  store.transaction(async (tx) => {
    const schedule = await findSchedule(tx, job.tenantId, job.id);
    if (schedule === undefined || schedule.deleted_at !== null) return job.finish(tx);
    const now = clock();
    const next_run_at = findNextSlot(schedule.next_run_at, schedule.interval_ms, now);
    await job.repeat(tx, next_run_at);
    if (!(await hasUnfinished(tx, job.tenantId, job.id))) await addRun(tx, schedule, newId(), now);
    await updateSchedule(tx, schedule, { next_run_at, updated_at: now });
  }, job.tenantId);

/** Schedules: each is due at its next slot. */
export const scheduleJobs = (needs: Needs): JobKind => ({
  kind: SCHEDULE_JOB,
  leaseMs: MINUTE,
  concurrency: 4,
  perLane: 1,
  // After an outage the due slot runs as soon as the store is available.
  maxTries: Infinity,
  retryMs: () => 5 * SECOND,
  run: (job) => bookSlot(needs, job),
  giveUp: (job) => bookSlot(needs, job),
});
