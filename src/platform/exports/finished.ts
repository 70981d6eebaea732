import { runsKey } from "../../contract/changes.ts";
import type { NewId } from "../../kit/ids.ts";
import { formatTimestamp } from "../../kit/clock.ts";
import type { Db, Store } from "../store/port.ts";
import type { ExportRunRow } from "../store/tables.ts";
import { addRunEvent } from "../webhooks/events.ts";

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
          runId: run.id,
          scheduleId: run.schedule_id,
          status: run.status,
          startedAt: formatTimestamp(run.started_at ?? at),
          completedAt: formatTimestamp(at),
          rowCount: run.row_count,
          errorStage: run.error_stage,
          errorDetail: run.error_detail,
        },
        at,
      },
    );
  };
