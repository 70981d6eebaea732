import { sql } from "kysely";
import { createKeyedTable } from "./coded-table.ts";
import type { Db } from "../port.ts";
import type { ExportRunRow, RunStatus } from "../tables/schema.ts";
import { findFileKeys } from "./stored-files.ts";
import { changeRows, ofTenant, rowsOfTenant } from "../engine/rows.ts";

export const { find: findRun } = createKeyedTable("export_runs");

type Name = Pick<ExportRunRow, "tenant_id" | "id">;

const ofSchedule = (db: Db, tenantId: string, scheduleId: string) =>
  rowsOfTenant(db, "export_runs", tenantId).where("schedule_id", "=", scheduleId);

/** Lists a schedule's runs, newest slot first. */
export const listRuns = (
  db: Db,
  tenantId: string,
  scheduleId: string,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<ExportRunRow[]> =>
  ofSchedule(db, tenantId, scheduleId)
    .$if(before !== undefined, (query) => query.where("slot_at", "<", before as number))
    .orderBy("slot_at", "desc")
    .limit(limit)
    .execute();

/** Finds the last completed run of a schedule. */
export const findLastCompleted = (db: Db, tenantId: string, scheduleId: string) =>
  ofSchedule(db, tenantId, scheduleId)
    .where("status", "=", "completed")
    .orderBy("slot_at", "desc")
    .limit(1)
    .executeTakeFirst();

/** Whether a run of the schedule is pending or running; only the newest can be. */
export const hasUnfinished = async (
  db: Db,
  tenantId: string,
  scheduleId: string,
): Promise<boolean> => {
  const [newest] = await listRuns(db, tenantId, scheduleId, { before: undefined, limit: 1 });
  return newest?.status === "pending" || newest?.status === "running";
};

/** Changes a run's status if it is one of `from`; returns whether it was. */
export const moveRun = async (
  tx: Db,
  { tenant_id, id }: Name,
  from: readonly RunStatus[],
  change: Partial<ExportRunRow>,
): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable("export_runs")
    .set(change)
    .where("tenant_id", "=", tenant_id)
    .where("id", "=", id)
    .where("status", "in", from)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
};

/** Cancels a schedule's pending runs; returns their ids. */
export const cancelPending = async (
  tx: Db,
  tenantId: string,
  scheduleId: string,
  now: number,
): Promise<string[]> => {
  const rows = await tx
    .updateTable("export_runs")
    .set({ status: "canceled", completed_at: now })
    .where("tenant_id", "=", tenantId)
    .where("schedule_id", "=", scheduleId)
    .where("status", "=", "pending")
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
};

/** Finds the chunks with rows `from` up to, but not including, `to` of a run. */
export const findChunks = (
  db: Db,
  { tenant_id, id }: Name,
  { from, to }: { from: number; to: number },
) =>
  rowsOfTenant(db, "run_chunks", tenant_id)
    .where("run_id", "=", id)
    .where("first_row", "<", to)
    .where(sql<boolean>`first_row + row_count > ${from}`)
    .orderBy("number")
    .execute();

/** Finds a tenant's completed runs that ended before a time and still have their rows. */
export const listExpired = (db: Db, tenantId: string, before: number, limit: number) =>
  rowsOfTenant(db, "export_runs", tenantId)
    .where("completed_at", "<", before)
    .where("status", "=", "completed")
    .where("purged_at", "is", null)
    .orderBy("completed_at")
    .limit(limit)
    .execute();

/** Deletes the chunks of a run; returns the keys of their files. */
export const forgetChunks = async (
  tx: Db,
  { tenant_id, id }: Name,
  now: number,
): Promise<string[]> => {
  const rows = await tx
    .deleteFrom("run_chunks")
    .where("tenant_id", "=", tenant_id)
    .where("run_id", "=", id)
    .returning("file_key")
    .execute();
  await changeRows(tx, "export_runs", { tenant_id, id }, { purged_at: now });
  return rows.map(({ file_key }) => file_key);
};

/** Returns those of these keys that belong to a completed or an active run. */
export const findKnownChunks = async (
  db: Db,
  tenantId: string,
  files: ReadonlyMap<string, string>,
): Promise<Set<string>> => {
  if (files.size === 0) return new Set();
  // Read before the chunks: a run that completes in between is found among the chunks.
  const running = await ofTenant(db, "export_runs", tenantId)
    .select("id")
    .where("id", "in", [...new Set(files.values())])
    .where("status", "=", "running")
    .execute();
  const chunks = await findFileKeys(db, "run_chunks", tenantId, [...files.keys()]);
  const ids = new Set(running.map(({ id }) => id));
  const held = [...files].filter(([, run]) => ids.has(run)).map(([key]) => key);
  return new Set([...chunks, ...held]);
};

/** Lists the ids of a tenant's runs that are pending or running. */
export const listUnfinishedRuns = async (db: Db, tenantId: string): Promise<string[]> => {
  const rows = await ofTenant(db, "export_runs", tenantId)
    .select("id")
    .where("status", "in", ["pending", "running"])
    .execute();
  return rows.map(({ id }) => id);
};
