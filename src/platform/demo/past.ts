import { operations } from "../../contract/index.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import { createChunkKeys } from "../files/run-files.ts";
import { parseStoredSelection } from "../exports/run-job.ts";
import { type Chunk, writeSnapshot } from "../exports/snapshot.ts";
import type { FileStore } from "../files/port.ts";
import { buildEntry } from "../http/audit.ts";
import { addSchedule } from "../services/schedules.ts";
import { insertAll } from "../store/bulk-writes.ts";
import type { NewEntry } from "../store/audit-entries.ts";
import { streamPayments } from "../store/payments.ts";
import type { Db } from "../store/port.ts";
import type { ExportRunRow, ScheduleRow } from "../store/tables.ts";
import { type DemoData, deriveId } from "./data.ts";
import type { Payments } from "./payments.ts";

export type Exports = { schedules: ScheduleRow[]; runs: ExportRunRow[] };

type Needs = { files: FileStore; connectionId: string; payments: Payments };

/** Writes the snapshot of a completed run: the payments that existed when it started. */
const insertCompletedRun = async (
  tx: Db,
  { files, connectionId, payments }: Needs,
  schedule: ScheduleRow,
  run: ExportRunRow,
): Promise<void> => {
  const { tenant_id: tenantId, id } = run;
  const { source, filter, fields } = parseStoredSelection(schedule);
  const startedAt = formatTimestamp(run.started_at ?? run.slot_at);
  const upTo = payments[source].filter(({ createdAt }) => createdAt <= startedAt).length;
  const rows = streamPayments(tx, { tenantId, source, filter, after: 0, upTo }, fields);
  const keys = createChunkKeys(connectionId, id, deriveId(`#try/${id}`));
  const chunks: Chunk[] = [];
  for await (const chunk of writeSnapshot(files, rows, keys)) chunks.push(chunk);
  const row_count = chunks.reduce((sum, chunk) => sum + chunk.row_count, 0);
  await insertAll(tx, "export_runs", [{ ...run, row_count }]);
  await insertAll(
    tx,
    "run_chunks",
    chunks.map((chunk) => ({ ...chunk, tenant_id: tenantId, run_id: id })),
  );
};

/** Adds the schedule with its past runs; the payments must exist. */
export const insertExports = async (
  tx: Db,
  needs: Needs,
  { schedules, runs }: Exports,
): Promise<void> => {
  for (const schedule of schedules) {
    await addSchedule(tx, schedule);
    for (const run of runs.filter(({ schedule_id }) => schedule_id === schedule.id)) {
      if (run.status === "completed") await insertCompletedRun(tx, needs, schedule, run);
      else await insertAll(tx, "export_runs", [run]);
    }
  }
};

type GivenEntry = {
  at: string;
  by: string;
  operation: string;
  tool?: string;
  status?: number;
  params?: Record<string, string>;
  rowCount?: number;
  /** False for entries from before actions had names. */
  named?: false;
};

/** Returns past audit entries, oldest first. */
export const buildAuditEntries = (data: DemoData, tenantId: string): NewEntry[] => {
  const byId = new Map<string, (typeof operations)[number]>(operations.map((one) => [one.id, one]));
  return data.records<GivenEntry>("audit").map((given, place) => {
    const { at, by, tool, status = 200, params = {}, rowCount, named = true } = given;
    const operation = byId.get(given.operation);
    if (operation === undefined) throw new Error(`demo/audit.ndjson: no ${given.operation}`);
    const outcome = { status, body: null };
    const { method } = operation;
    const facts = {
      tenantId,
      at: Date.parse(at),
      method,
      tool,
      actor: by,
      pathParams: params,
      params,
      outcome,
      rowCount,
    };
    const entry = buildEntry(operation, facts, () => deriveId(`#audit/${place}`));
    return named ? entry : { ...entry, action: null };
  });
};
