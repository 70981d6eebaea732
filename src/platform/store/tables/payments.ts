import type { Source } from "../../../contract/payments/catalogue.ts";
import type { DeliveryStatus, RunEventKind } from "../../../contract/operations/webhooks.ts";

/** The last number given to a source's rows of a tenant. */
export type PaymentSequenceRow = { tenant_id: string; source: string; last: number };

/** A row of one source; its further columns are those of the catalogue. */
export type PaymentRow = {
  tenant_id: string;
  seq: number;
  id: string;
  /** Hash of the row in the last imported file. */
  sent_hash: string;
  created_at: string;
  updated_at: string;
} & Record<string, string | number | null>;

/** A query that runs at intervals. A deleted schedule stays, because its runs refer to it. */
export type ScheduleRow = {
  tenant_id: string;
  id: string;
  name: string | null;
  interval_ms: number;
  source: Source;
  /** As in the request: JSON. */
  fields: string;
  filters: string;
  next_run_at: number;
  created_by: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
};

export type RunStatus = "pending" | "running" | "completed" | "failed" | "canceled";

/** The stage in which a run failed. */
export type ErrorStage = "validation" | "query" | "snapshot" | "limit" | "internal";

/** A run of a schedule; one per slot. */
export type ExportRunRow = {
  tenant_id: string;
  id: string;
  schedule_id: string;
  /** The time at which it was due, unique in its schedule. */
  slot_at: number;
  status: RunStatus;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  row_count: number;
  error_stage: ErrorStage | null;
  error_detail: string | null;
  /** Its rows were removed. */
  purged_at: number | null;
};

/** A part of a completed run's rows: a compressed file. */
export type RunChunkRow = {
  tenant_id: string;
  run_id: string;
  /** From 0. */
  number: number;
  first_row: number;
  row_count: number;
  file_key: string;
  file_size: number;
  /** Hash of the file's bytes, in hexadecimal. */
  sha256: string;
};

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

export type PaymentTables = {
  payment_sequences: PaymentSequenceRow;
  cashapp_payments: PaymentRow;
  iandp_payments: PaymentRow;
  bpn_payments: PaymentRow;
  schedules: ScheduleRow;
  export_runs: ExportRunRow;
  run_chunks: RunChunkRow;
  webhooks: WebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
};
