import type { Flag } from "./column.ts";

/** A job that is due at a time; `leased_until` is in the past while no worker has it. */
export type JobRow = {
  kind: string;
  id: string;
  tenant_id: string;
  lane: string;
  due_at: number;
  tries: number;
  lease: string | null;
  leased_until: number;
};

/** When a lane was last served: the lane served longest ago is served next. */
export type JobTurnRow = { kind: string; lane: string; served_at: number };

/** The file store that the database's files are in: one row. */
export type FileStoreRow = {
  name: string;
  id: string;
  /** Whether the file store is known to have its id; until then it may be written there. */
  is_written: Flag;
};

export type WorkTables = {
  jobs: JobRow;
  job_turns: JobTurnRow;
  file_stores: FileStoreRow;
  program_versions: { version: string; opened_at: number };
};
