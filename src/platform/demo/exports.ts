import { DAY, HOUR, iso, SECOND } from "../../kit/clock.ts";
import { chunkKeys } from "../exports/file-key.ts";
import { DETAIL, selectionOf } from "../exports/run-job.ts";
import { type Chunk, writeSnapshot } from "../exports/snapshot.ts";
import type { FileStore } from "../files/port.ts";
import { addSchedule } from "../services/schedules.ts";
import { insertChunks, insertRun } from "../store/export-runs.ts";
import { streamPayments } from "../store/payments.ts";
import type { Db } from "../store/port.ts";
import type { ExportRunRow, ScheduleRow } from "../store/tables.ts";
import { authorOf, type Making } from "./configuration.ts";
import { workday } from "./moments.ts";
import type { Payments } from "./payments/payments.ts";
import { MANAGER } from "./people.ts";

/** A run, and how many of its source's rows were there when it froze them. */
export type PastRun = { row: ExportRunRow; upTo: number; tryId: string };

/** A schedule and what became of its slots so far. */
export type Exports = { schedule: ScheduleRow; runs: readonly PastRun[] };

const WEEK = 7 * DAY;
const AT = 6 * HOUR;
const SLOTS = 4;
const FAILED = 1;
const SOURCE = "cashapp";

const FIELDS = [
  "paymentId",
  "paymentDate",
  "accountNumber",
  "accountName",
  "documentNumber",
  "currencyCode",
  "invoiceAmount",
  "appliedAmount",
  "deductionAmount",
  "deductionReasonCode",
  "disputeId",
];

const scheduleOf = (making: Making, lastSlot: number): ScheduleRow => {
  const madeAt = lastSlot - SLOTS * WEEK + 9 * HOUR;
  return {
    tenant_id: making.tenantId,
    id: making.dice.id(),
    name: "Short pays of the week's close",
    interval_ms: WEEK,
    source: SOURCE,
    fields: JSON.stringify(FIELDS),
    filters: JSON.stringify({ shortPay: { eq: true } }),
    next_run_at: lastSlot + WEEK,
    created_by: authorOf(making, MANAGER),
    created_at: madeAt,
    updated_at: lastSlot,
    deleted_at: null,
  };
};

/** A schedule of every week: its last slots, the next still days away. */
export const exports = (making: Making, { cashapp }: Payments): Exports => {
  const { dice, now } = making;
  const lastSlot = workday(now, 2) + AT;
  const schedule = scheduleOf(making, lastSlot);
  const runs = Array.from({ length: SLOTS }, (_, place): PastRun => {
    const slot_at = lastSlot - (SLOTS - 1 - place) * WEEK;
    const started_at = slot_at + dice.whole(1, 5) * SECOND;
    const isFailed = place === FAILED;
    const row: ExportRunRow = {
      tenant_id: making.tenantId,
      id: dice.id(),
      schedule_id: schedule.id,
      slot_at,
      status: isFailed ? "failed" : "completed",
      created_at: slot_at,
      started_at,
      completed_at: started_at + dice.whole(2, 9) * SECOND,
      row_count: 0,
      error_stage: isFailed ? "query" : null,
      error_detail: isFailed ? DETAIL.query : null,
      purged_at: null,
    };
    const upTo = cashapp.filter(({ createdAt }) => createdAt <= iso(started_at)).length;
    return { row, upTo, tryId: dice.id() };
  });
  return { schedule, runs };
};

/** Freezes for a past run what stood in the store at its time. */
const freeze = async (
  tx: Db,
  files: FileStore,
  connectionId: string,
  { schedule, run: { row, upTo, tryId } }: { schedule: ScheduleRow; run: PastRun },
): Promise<void> => {
  const { tenant_id, id } = row;
  const { source, filter, fields } = selectionOf(schedule);
  const rows = streamPayments(tx, { tenantId: tenant_id, source, filter, after: 0, upTo }, fields);
  const chunks: Chunk[] = [];
  for await (const chunk of writeSnapshot(files, rows, chunkKeys(connectionId, id, tryId))) {
    chunks.push(chunk);
  }
  const row_count = chunks.reduce((sum, chunk) => sum + chunk.row_count, 0);
  await insertRun(tx, { ...row, row_count });
  await insertChunks(
    tx,
    chunks.map((chunk) => ({ ...chunk, tenant_id, run_id: id })),
  );
};

/** Adds the schedule with its runs, once the payments are there; the rows of each completed one are frozen. */
export const insertExports = async (
  tx: Db,
  files: FileStore,
  connectionId: string,
  { schedule, runs }: Exports,
): Promise<void> => {
  await addSchedule(tx, schedule);
  for (const run of runs) {
    // oxlint-disable no-await-in-loop -- one connection
    if (run.row.status === "completed") await freeze(tx, files, connectionId, { schedule, run });
    else await insertRun(tx, run.row);
    // oxlint-enable no-await-in-loop
  }
};
