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

export type WorkTables = { jobs: JobRow; job_turns: JobTurnRow };
