import { runsKey } from "../../contract/changes.ts";
import type { ExportRun } from "../../contract/operations/export-runs.ts";
import type { NewId } from "../../kit/ids.ts";
import { formatIfAny, formatTimestamp } from "../../kit/clock.ts";
import type { Db, Store } from "../store/port.ts";
import type { ExportRunRow } from "../store/tables/schema.ts";
import { addRunEvent } from "../webhooks/events.ts";

/** Converts a row to a run, as in responses and webhook events. */
export const toExportRun = (row: ExportRunRow): ExportRun => ({
  runId: row.id,
  scheduleId: row.schedule_id,
  status: row.status,
  startedAt: formatIfAny(row.started_at),
  completedAt: formatIfAny(row.completed_at),
  rowCount: row.row_count,
  errorStage: row.error_stage,
  errorDetail: row.error_detail,
});

/** Announces a completed or failed run and adds its webhook deliveries, in the transaction that ends it. */
export const createFinished =
  ({ store, newId }: { store: Pick<Store, "announce">; newId: NewId }) =>
  async (tx: Db, run: ExportRunRow): Promise<void> => {
    await store.announce(tx, runsKey(run.schedule_id));
    const at = run.completed_at ?? run.created_at;
    await addRunEvent(
      tx,
      { newId },
      {
        tenantId: run.tenant_id,
        event: run.status === "completed" ? "export.completed" : "export.failed",
        payload: {
          ...toExportRun(run),
          startedAt: formatTimestamp(run.started_at ?? at),
          completedAt: formatTimestamp(at),
        },
        at,
      },
    );
  };
