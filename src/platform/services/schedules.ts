import type { Fault } from "../../contract/errors.ts";
import type { Contract } from "../../contract/index.ts";
import { type Schedule, ScheduleBody } from "../../contract/operations/schedules.ts";
import { parseSelection } from "../../contract/payments/query.ts";
import { DAY, formatTimestamp, MINUTE } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { RUN_JOB, SCHEDULE_JOB } from "../exports/schedule-job.ts";
import type { Handlers } from "../handlers.ts";
import { placingAt } from "./payments.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { cancelPending } from "../store/queries/export-runs.ts";
import { addJob, removeJob } from "../store/queries/jobs.ts";
import type { Db } from "../store/port.ts";
import { countSchedules, deleteSchedule, listSchedules } from "../store/queries/schedules.ts";
import type { ScheduleRow } from "../store/tables/schema.ts";

const MOST_SCHEDULES = 100;
const LATEST_START_MS = 366 * DAY;

const toSchedule = (row: ScheduleRow): Schedule => ({
  id: row.id,
  tenantId: row.tenant_id,
  scheduleName: row.name,
  intervalMs: row.interval_ms,
  source: row.source,
  fields: JSON.parse(row.fields) as string[],
  filters: JSON.parse(row.filters) as Record<string, unknown>,
  nextRunAt: formatTimestamp(row.next_run_at),
  createdAt: formatTimestamp(row.created_at),
  updatedAt: formatTimestamp(row.updated_at),
});

/** Checks that the first run is at most one minute in the past and at most 366 days ahead. */
const findStartFaults = (body: unknown, now: number): Fault[] => {
  const { firstRunAt } = (body ?? {}) as { firstRunAt?: unknown };
  const at = typeof firstRunAt === "string" ? Date.parse(firstRunAt) : NaN;
  const wrong = (message: string): Fault[] => [{ field: "firstRunAt", code: "range", message }];
  if (at < now - MINUTE) return wrong("must not be in the past");
  return at > now + LATEST_START_MS ? wrong("must be within a year") : [];
};

/** Stores a schedule and plans its next run. */
export const addSchedule = async (tx: Db, row: ScheduleRow): Promise<void> => {
  await insertAll(tx, "schedules", [row]);
  const { id, tenant_id: tenantId, next_run_at: dueAt } = row;
  await addJob(tx, { kind: SCHEDULE_JOB, id, tenantId, lane: id, dueAt });
};

/** Cancels a schedule's planned and pending runs. */
const cancel = async (tx: Db, tenantId: string, id: string, now: number): Promise<void> => {
  await removeJob(tx, { kind: SCHEDULE_JOB, id, tenantId });
  for (const runId of await cancelPending(tx, tenantId, id, now)) {
    await removeJob(tx, { kind: RUN_JOB, id: runId, tenantId });
  }
};

export const schedules = ({ newId }: { newId: NewId }): Handlers<Contract["schedules"]> => ({
  async list(_input, { db, tenantId }) {
    return { body: { data: (await listSchedules(db, tenantId)).map(toSchedule) } };
  },

  async create({ body }, call) {
    const { now, tenantId } = call;
    const id = newId();
    const placing = await placingAt(call, now);
    const { value, faults = [] } = parseSelection(ScheduleBody, body, placing);
    const wrong = [...faults, ...findStartFaults(body, now)];
    if (value === undefined || wrong.length > 0) return call.invalid(wrong);
    const { scheduleName = null, intervalMs, firstRunAt, fields = [], filters } = value.rest;
    const row: ScheduleRow = {
      tenant_id: tenantId,
      id,
      name: scheduleName === "" ? null : scheduleName,
      interval_ms: intervalMs,
      source: value.source,
      fields: JSON.stringify(fields),
      filters: JSON.stringify(filters),
      next_run_at: firstRunAt === undefined ? now + intervalMs : Date.parse(firstRunAt),
      created_by: call.caller.id,
      created_at: now,
      updated_at: now,
      deleted_at: null,
    };
    return call.change(async (tx) => {
      if ((await countSchedules(tx, tenantId)) >= MOST_SCHEDULES) {
        call.fail("conflict", `A tenant may have ${MOST_SCHEDULES} schedules. Delete one first.`);
      }
      await addSchedule(tx, row);
      return { body: toSchedule(row), createdId: id, audit: { metadata: { scheduleId: id } } };
    });
  },

  async delete({ params: { id } }, call) {
    const { now, tenantId } = call;
    return call.change(async (tx) => {
      if (!(await deleteSchedule(tx, tenantId, id, now))) {
        call.fail("not_found", "There is no such schedule.");
      }
      await cancel(tx, tenantId, id, now);
      return { body: null };
    });
  },
});
