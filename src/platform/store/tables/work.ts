/** Something to be done at a moment; `leased_until` lies in the past while nobody works it. */
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

export type WorkTables = { jobs: JobRow };
