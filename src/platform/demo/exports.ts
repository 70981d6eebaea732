import { utcCalendar } from "../../contract/insights/calendar.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { parseStoredSelection } from "../exports/run-job.ts";
import { writeSnapshot } from "../exports/snapshot.ts";
import type { FileStore } from "../files/port.ts";
import { createChunkKeys } from "../files/run-files.ts";
import { addSchedule } from "../services/schedules.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { streamPayments } from "../store/queries/payments.ts";
import type { Db } from "../store/port.ts";
import type { ExportRunRow, RunChunkRow, ScheduleRow } from "../store/tables/schema.ts";
import { deriveId } from "./data.ts";
import type { Payments } from "./payments.ts";

type Past = { schedules: ScheduleRow[]; runs: ExportRunRow[]; payments: Payments };
type Needs = { files: FileStore; connectionId: string; past: Past };

/** Writes the snapshot of a completed run: the payments that existed when it started. */
const writeRun = async (
  tx: Db,
  { files, connectionId, past: { payments } }: Needs,
  schedule: ScheduleRow,
  { tenant_id, id, slot_at, started_at, created_at }: ExportRunRow,
): Promise<RunChunkRow[]> => {
  const day = { calendar: utcCalendar, now: created_at };
  const { source, filter, fields } = parseStoredSelection(schedule, day);
  const startedAt = formatTimestamp(started_at ?? slot_at);
  const upTo = payments[source].filter(({ createdAt }) => createdAt <= startedAt).length;
  const scan = { tenantId: tenant_id, source, filter, after: 0, upTo };
  const keys = createChunkKeys(connectionId, id, deriveId(`#try/${id}`));
  const chunks: RunChunkRow[] = [];
  for await (const chunk of writeSnapshot(files, streamPayments(tx, scan, fields), keys)) {
    chunks.push({ ...chunk, tenant_id, run_id: id });
  }
  return chunks;
};

/** Adds the schedules with their past runs; the payments must exist. */
export const insertExports = async (tx: Db, needs: Needs): Promise<void> => {
  const { schedules, runs } = needs.past;
  for (const schedule of schedules) await addSchedule(tx, schedule);
  for (const run of runs) {
    const schedule = schedules.find(({ id }) => id === run.schedule_id);
    const isWritten = run.status === "completed" && schedule !== undefined;
    const chunks = isWritten ? await writeRun(tx, needs, schedule, run) : [];
    const row_count = chunks.reduce((sum, chunk) => sum + chunk.row_count, 0);
    await insertAll(tx, "export_runs", [{ ...run, row_count }]);
    await insertAll(tx, "run_chunks", chunks);
  }
};
