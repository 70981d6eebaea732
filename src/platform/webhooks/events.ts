import type { ExportRun } from "../../contract/operations/export-runs.ts";
import type { RunEventKind } from "../../contract/operations/webhooks.ts";
import type { NewId } from "../../kit/ids.ts";
import { insertAll } from "../store/engine/bulk-writes.ts";
import { addJob } from "../store/queries/jobs.ts";
import type { Db } from "../store/port.ts";
import type { WebhookDeliveryRow } from "../store/tables/schema.ts";
import { listWebhooksFor } from "../store/queries/webhooks.ts";

export const DELIVERY_KIND = "webhook-delivery";

/** A run in the payload of a webhook; times are ISO 8601. */
export type RunPayload = ExportRun & { startedAt: string; completedAt: string };

export type RunEvent = {
  tenantId: string;
  event: RunEventKind;
  payload: RunPayload;
  /** Epoch milliseconds; the first attempts are due then. */
  at: number;
};

/**
 * Adds the deliveries of a finished run. Call it in the transaction that finishes the run, so that both commit
 * together; the worker sends them afterwards.
 */
export const addRunEvent = async (
  tx: Db,
  { newId }: { newId: NewId },
  { tenantId, event, payload, at }: RunEvent,
): Promise<void> => {
  const { scheduleId } = payload;
  for (const webhook of await listWebhooksFor(tx, { tenantId, scheduleId })) {
    const id = newId();
    const delivery: WebhookDeliveryRow = {
      tenant_id: tenantId,
      id,
      webhook_id: webhook.id,
      schedule_id: scheduleId,
      event,
      payload: JSON.stringify(payload),
      callback_url: webhook.callback_url,
      secret: webhook.secret,
      attempts: 0,
      created_at: at,
    };
    await insertAll(tx, "webhook_deliveries", [delivery]);
    await addJob(tx, { kind: DELIVERY_KIND, id, tenantId, lane: webhook.id, dueAt: at });
  }
};
