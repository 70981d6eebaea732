import type { DeliveryStatus, RunEventKind } from "../../../contract/operations/webhooks.ts";

export type WebhookRow = {
  tenant_id: string;
  id: string;
  /** Null: the runs of every schedule. */
  schedule_id: string | null;
  callback_url: string;
  /** Sealed. */
  secret: string;
  created_at: number;
  updated_at: number;
};

type EventColumns = {
  tenant_id: string;
  id: string;
  webhook_id: string;
  /** The schedule of the run. */
  schedule_id: string;
  event: RunEventKind;
};

/** An event for one webhook, with all data to send it even after the webhook is deleted. */
export type WebhookDeliveryRow = EventColumns & {
  /** JSON of the run. */
  payload: string;
  callback_url: string;
  /** Sealed. */
  secret: string;
  /** The number of attempts so far. */
  attempts: number;
  created_at: number;
};

/** The outcome of one attempt. */
export type WebhookAttemptRow = EventColumns & {
  delivery_id: string;
  /** From 1. */
  attempt: number;
  status: DeliveryStatus;
  /** Null if the receiver did not respond. */
  http_status: number | null;
  error: string | null;
  /** The end of the attempt. */
  created_at: number;
};

export type WebhookTables = {
  webhooks: WebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
};
