import { DAY } from "../../src/kit/clock.ts";
import { insertAll } from "../../src/platform/store/engine/bulk-writes.ts";
import type { Store } from "../../src/platform/store/port.ts";
import { listSchedules, updateSchedule } from "../../src/platform/store/queries/schedules.ts";

export type ScheduleRecords = { schedule: { scheduleId: string; runId: string } };

// A tenant may have 100, so repeated seeding keeps the first ones.
const ROOM = { most: 60, kept: 4 };

/** A schedule of the tenant with a completed run that found nothing. */
export const seedSchedule = (
  store: Store,
  tenantId: string,
  { mark, text }: { mark: string; text: string },
): Promise<ScheduleRecords> =>
  store.transaction(async (tx) => {
    const [scheduleId, runId] = [`schedule-${mark}`, `run-${mark}`];
    const before = await listSchedules(tx, tenantId);
    const surplus = before.length > ROOM.most ? before.slice(ROOM.kept) : [];
    for (const one of surplus) await updateSchedule(tx, one, { deleted_at: 0 });
    // Later than every test's clock, so that no slot is due.
    const far = Date.UTC(2999, 0, 1);
    await insertAll(tx, "schedules", [
      {
        tenant_id: tenantId,
        id: scheduleId,
        name: text,
        interval_ms: DAY,
        source: "cashapp",
        fields: "[]",
        filters: JSON.stringify({ payerName: { eq: text } }),
        next_run_at: far,
        created_by: text,
        created_at: before.length,
        updated_at: before.length,
        deleted_at: null,
      },
    ]);
    await insertAll(tx, "export_runs", [
      {
        tenant_id: tenantId,
        id: runId,
        schedule_id: scheduleId,
        slot_at: 0,
        status: "completed",
        created_at: 0,
        started_at: 0,
        completed_at: far,
        row_count: 0,
        error_stage: null,
        error_detail: null,
        purged_at: null,
      },
    ]);
    return { schedule: { scheduleId, runId } };
  });
