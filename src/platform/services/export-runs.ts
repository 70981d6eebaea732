import { z } from "zod";
import type { AuditFacts } from "../../contract/errors.ts";
import type { Contract } from "../../contract/index.ts";
import type { RunRows } from "../../contract/operations/export-runs.ts";
import { DEFAULT_LIMIT } from "../../contract/payments/query.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Seal } from "../../kit/seal.ts";
import { toExportRun } from "../exports/finished.ts";
import { openRows } from "../exports/snapshot.ts";
import type { FileStore } from "../files/port.ts";
import type { Call, Handlers, Page } from "../handlers.ts";
import { findChunks, findLastCompleted, findRun, listRuns } from "../store/queries/export-runs.ts";
import { findSchedule } from "../store/queries/schedules.ts";
import type { ExportRunRow, ScheduleRow } from "../store/tables/schema.ts";
import { openCursor } from "./listing.ts";

const MOST_RUNS = 100;

type Needs = {
  files: FileStore;
  /** Encrypt the two kinds of cursors. */
  seals: { status: Seal; data: Seal };
  /** Retention of a completed run's rows, in milliseconds. */
  keptMs: number;
};

/** Content of a cursor over runs. */
const StatusCursor = z.object({ tenant: z.string(), schedule: z.string(), before: z.int() });
/** Content of a cursor over the rows of a run. */
const DataCursor = z.object({
  tenant: z.string(),
  schedule: z.string(),
  run: z.string(),
  from: z.int(),
});

const scheduleOf = async (call: Call, id: string): Promise<ScheduleRow> =>
  (await findSchedule(call.db, call.tenantId, id)) ??
  call.fail("not_found", "There is no such schedule.");

const toAuditFacts = (run: ExportRunRow): AuditFacts => ({
  metadata: { runId: run.id, status: run.status },
});

type DataCall = Call<Contract["export_runs"]["data"]>;

/** Finds the run that the query names, else the last completed one. @throws {Problem} not_found, conflict */
const findCompletedRun = async (
  call: DataCall,
  scheduleId: string,
  runId: string | undefined,
): Promise<ExportRunRow> => {
  const { db, tenantId } = call;
  if (runId === undefined) {
    const last = await findLastCompleted(db, tenantId, scheduleId);
    return last ?? call.fail("not_found", "The schedule has no completed run yet.");
  }
  const run = await findRun(db, tenantId, runId);
  if (run?.schedule_id !== scheduleId) {
    return call.fail("not_found", "The schedule has no such run.");
  }
  if (run.status === "completed") return run;
  const message = `The run is ${run.status}; only a completed one has rows.`;
  return call.fail("conflict", message, { audit: toAuditFacts(run) });
};

/** Opens a page of the rows of a completed run. */
const openPage = async (
  { files, seals }: Needs,
  call: DataCall,
  run: ExportRunRow,
  { from, limit }: { from: number; limit: number },
): Promise<Page<RunRows>> => {
  const { tenantId: tenant } = call;
  const to = Math.min(run.row_count, from + limit);
  const chunks = await findChunks(call.db, run, { from, to });
  const data = await openRows(files, chunks, { from, to });
  const hasMore = to < run.row_count;
  const next = { tenant, schedule: run.schedule_id, run: run.id, from: to };
  return {
    head: {
      runId: run.id,
      scheduleId: run.schedule_id,
      status: run.status,
      completedAt: formatTimestamp(run.completed_at ?? 0),
    },
    rowCount: to - from,
    data,
    pagination: () => ({
      cursor: hasMore ? seals.data.seal(next) : null,
      hasMore,
      rowCount: to - from,
    }),
    close: async () => {
      await data.return(undefined);
    },
  };
};

type Service = Handlers<Contract["export_runs"]>;

const status =
  (needs: Needs): Service["status"] =>
  async ({ params: { scheduleId }, query: { cursor, limit = MOST_RUNS } }, call) => {
    const schedule = await scheduleOf(call, scheduleId);
    const seal = needs.seals.status;
    const own = { tenant: call.tenantId, schedule: scheduleId };
    const before = openCursor(call, { schema: StatusCursor, seal, cursor }, own)?.before;
    const rows = await listRuns(call.db, own.tenant, scheduleId, { before, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const deleted = schedule.deleted_at !== null;
    const status = {
      schedule: {
        id: scheduleId,
        nextRunAt: deleted ? null : formatTimestamp(schedule.next_run_at),
        deleted,
      },
      data: page.map(toExportRun),
      pagination: {
        cursor: hasMore ? seal.seal({ ...own, before: last.slot_at }) : null,
        hasMore,
        rowCount: page.length,
      },
    };
    return { body: status };
  };

const data =
  (needs: Needs): Service["data"] =>
  async ({ params: { scheduleId }, query }, call) => {
    await scheduleOf(call, scheduleId);
    const { cursor, limit = DEFAULT_LIMIT, runId } = query;
    const named = runId === undefined ? {} : { run: runId };
    const at = openCursor(
      call,
      { schema: DataCursor, seal: needs.seals.data, cursor },
      { tenant: call.tenantId, schedule: scheduleId, ...named },
    );
    const run = await findCompletedRun(call, scheduleId, at?.run ?? runId);
    const audit = toAuditFacts(run);
    const isOld = (run.completed_at ?? 0) + needs.keptMs <= call.now;
    if (run.purged_at !== null || isOld) {
      call.fail("gone", "The run's rows are kept no longer.", { audit });
    }
    return { body: await openPage(needs, call, run, { from: at?.from ?? 0, limit }), audit };
  };

export const export_runs = (needs: Needs): Service => ({
  status: status(needs),
  data: data(needs),
});
