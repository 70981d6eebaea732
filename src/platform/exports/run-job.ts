import { z } from "zod";
import { Problem } from "../../contract/errors.ts";
import { parseSelection, type Selection, selection } from "../../contract/payments/query.ts";
import { openCalendar } from "../../contract/insights/calendar.ts";
import { createPlacing, type RunDay } from "../../contract/insights/relative-days.ts";
import { formatFaults } from "../../contract/faults.ts";
import { type Clock, HOUR, MINUTE, SECOND } from "../../kit/clock.ts";
import { toErrorFields, type Log } from "../../kit/log.ts";
import { dropFiles } from "../files/drop.ts";
import type { FileStore } from "../files/port.ts";
import type { StorageQuota } from "../files/quota.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { findRun, moveRun } from "../store/queries/export-runs.ts";
import { findLastSeq, streamPayments } from "../store/queries/payments.ts";
import type { RowBytes } from "../store/engine/dialect.ts";
import type { Db, Snapshot, Store } from "../store/port.ts";
import { findSchedule } from "../store/queries/schedules.ts";
import type { ErrorStage, ExportRunRow, ScheduleRow } from "../store/tables/schema.ts";
import { readTenant } from "../store/queries/tenants.ts";
import type { NewId } from "../../kit/ids.ts";
import type { Job, JobKind } from "../jobs/job.ts";
import { createChunkKeys } from "../files/run-files.ts";
import { RUN_JOB } from "./schedule-job.ts";
import { type Chunk, writeSnapshot } from "./snapshot.ts";

export type RunNeeds = {
  store: Store;
  files: FileStore;
  clock: Clock;
  newId: NewId;
  log: Log;
  limits: typeof RUN_LIMITS;
  quota: StorageQuota;
  /** Called in the transaction that completes or fails a run. */
  finished(tx: Db, run: ExportRunRow): Promise<void>;
};

/** Limits of one run. */
export const RUN_LIMITS = { rows: 5_000_000, ms: HOUR };

/** A crashed run is tried once more. */
const TRIES = 2;

/** The reason for a failed run, in words for the person who set up the schedule. */
class RunFailed extends Error {
  readonly stage: ErrorStage;

  constructor(stage: ErrorStage, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.stage = stage;
  }
}

/** Default message per stage. */
export const DETAIL: Record<ErrorStage, string> = {
  validation: "The stored query is not valid any more.",
  query: "The payments could not be read.",
  snapshot: "The snapshot could not be written.",
  limit: "The run exceeded a limit.",
  internal: "The run was interrupted twice and not tried again.",
};

const MOST_CHARACTERS = 500;

const isOverQuota = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === "storage_quota_exceeded";

const toRunFailed = (stage: ErrorStage, error: unknown): RunFailed => {
  if (error instanceof RunFailed) return error;
  return isOverQuota(error)
    ? new RunFailed("limit", error.message)
    : new RunFailed(stage, DETAIL[stage], error);
};

const Stored = z.strictObject(selection);

/** Returns a schedule's query for a run, validated against the current catalogue. @throws {RunFailed} */
export const parseStoredSelection = (
  { source, fields, filters }: ScheduleRow,
  day: RunDay,
): Selection => {
  const body = { source, fields: JSON.parse(fields), filters: JSON.parse(filters) };
  const { value, faults = [] } = parseSelection(Stored, body, createPlacing(day));
  if (value !== undefined) return value;
  const words = `${DETAIL.validation} ${formatFaults(faults)}`;
  throw new RunFailed("validation", words.slice(0, MOST_CHARACTERS));
};

/** Passes rows on until the job is aborted or a limit is exceeded. */
async function* limitRows(
  rows: AsyncIterable<RowBytes>,
  { clock, limits }: RunNeeds,
  { signal }: Job,
): AsyncGenerator<RowBytes> {
  const until = clock() + limits.ms;
  let count = 0;
  try {
    for await (const some of rows) {
      signal.throwIfAborted();
      count += some.rowCount;
      if (count > limits.rows) {
        throw new RunFailed("limit", `More than ${limits.rows} rows match; narrow the filters.`);
      }
      if (clock() > until)
        throw new RunFailed("limit", `The run took longer than ${limits.ms / MINUTE} minutes.`);
      yield some;
    }
  } catch (error) {
    throw toRunFailed("query", error);
  }
}

type Result = {
  chunks: Chunk[];
  rowCount: number;
  /** Keys of every file that was begun. */
  keys: string[];
};

/** A run that has begun, and its schedule. */
type Begun = { run: ExportRunRow; schedule: ScheduleRow };

/** Writes the rows of one snapshot of the store. `result` lists the written files even if it throws. */
const freeze = async (needs: RunNeeds, job: Job, { schedule, run }: Begun, result: Result) => {
  const { store, files, quota } = needs;
  const { tenantId } = job;
  const tenant = await readTenant(store.read, tenantId);
  // A run that is tried again keeps its days.
  const day = { calendar: openCalendar(tenant.settings.timeZone), now: run.created_at };
  const { source, filter, fields } = parseStoredSelection(schedule, day);
  const rowsOf = async (snapshot: Snapshot) => {
    const upTo = await findLastSeq(snapshot.db, tenantId, source);
    const scan = { tenantId, source, filter, after: 0, upTo };
    return limitRows(streamPayments(snapshot.db, scan, fields), needs, job);
  };
  const snapshot = await store
    .snapshot({ owner: tenantId, signal: job.signal, parallel: true })
    .catch((error: unknown) => {
      throw toRunFailed("query", error);
    });
  const reservation = await quota.reserve(tenantId, 0).catch(async (error: unknown) => {
    await snapshot.close();
    throw error;
  });
  try {
    const rows = await rowsOf(snapshot);
    const keys = createChunkKeys(tenant.connection_id, job.id, needs.newId());
    const keyOf = (number: number): string => {
      const key = keys(number);
      result.keys.push(key);
      return key;
    };
    for await (const chunk of writeSnapshot(files, rows, keyOf)) {
      result.chunks.push(chunk);
      result.rowCount += chunk.row_count;
      reservation.add(chunk.file_size);
    }
  } finally {
    reservation.release();
    await snapshot.close();
  }
};

/** Ends a run and its job in one transaction, together with the webhook deliveries about it. */
const end = async (
  { store, clock, quota, finished }: RunNeeds,
  job: Job,
  change: Partial<ExportRunRow>,
  { chunks }: Pick<Result, "chunks">,
): Promise<void> => {
  const name = { tenant_id: job.tenantId, id: job.id };
  await store.transaction(async (tx) => {
    await job.finish(tx);
    await moveRun(tx, name, ["pending", "running"], { ...change, completed_at: clock() });
    await insertAll(
      tx,
      "run_chunks",
      chunks.map((chunk) => ({ ...chunk, tenant_id: job.tenantId, run_id: job.id })),
    );
    if (chunks.length > 0) await quota.check(tx, job.tenantId);
    const run = await findRun(tx, job.tenantId, job.id);
    if (run !== undefined) await finished(tx, run);
  }, job.tenantId);
};

const fail = (needs: RunNeeds, job: Job, failure: RunFailed, rowCount: number): Promise<void> =>
  end(
    needs,
    job,
    {
      status: "failed",
      error_stage: failure.stage,
      error_detail: failure.message,
      row_count: rowCount,
    },
    { chunks: [] },
  );

/** Marks a run as running; returns undefined if it was canceled meanwhile. */
const begin = ({ store, clock }: RunNeeds, job: Job): Promise<Begun | undefined> =>
  store.transaction(async (tx) => {
    const name = { tenant_id: job.tenantId, id: job.id };
    const change = { status: "running", started_at: clock() } as const;
    const run = await findRun(tx, job.tenantId, job.id);
    if (run === undefined || !(await moveRun(tx, name, ["pending", "running"], change))) {
      await job.finish(tx);
      return undefined;
    }
    const schedule = await findSchedule(tx, job.tenantId, run.schedule_id);
    return schedule && { run, schedule };
  }, job.tenantId);

const perform = async (needs: RunNeeds, job: Job): Promise<void> => {
  const begun = await begin(needs, job);
  if (begun === undefined) return;
  const result: Result = { chunks: [], rowCount: 0, keys: [] };
  const failed = async (error: unknown): Promise<void> => {
    // Aborted by shutdown or takeover: not a failure, because another worker continues.
    if (job.signal.aborted) throw error;
    const failure = toRunFailed("snapshot", error);
    needs.log.warn("export_run.failed", {
      runId: job.id,
      stage: failure.stage,
      ...toErrorFields(failure.cause ?? failure),
    });
    await fail(needs, job, failure, result.rowCount);
    // The sweep would remove them later.
    return dropFiles(needs, result.keys);
  };
  try {
    await freeze(needs, job, begun, result);
  } catch (error) {
    return failed(error);
  }
  const { rowCount } = result;
  try {
    await end(needs, job, { status: "completed", row_count: rowCount }, result);
  } catch (error) {
    // Any other error may have occurred after the commit.
    if (!isOverQuota(error)) throw error;
    return failed(error);
  }
};

/** Runs of schedules: each run writes its snapshot once, or fails. */
export const runJobs = (needs: RunNeeds): JobKind => ({
  kind: RUN_JOB,
  leaseMs: MINUTE,
  // One more than a tenant may have, so that long runs of one tenant leave room for another's.
  concurrency: 3,
  perLane: 2,
  maxTries: TRIES,
  retryMs: () => 5 * SECOND,
  run: (job) => perform(needs, job),
  giveUp: (job) => fail(needs, job, new RunFailed("internal", DETAIL.internal), 0),
});
