import type { Source } from "../../../contract/payments/catalogue.ts";

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

export type ExportTables = {
  schedules: ScheduleRow;
  export_runs: ExportRunRow;
  run_chunks: RunChunkRow;
};
