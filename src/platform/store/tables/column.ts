export type Flag = 0 | 1;

/** Who made and last changed a record, and when. */
export type Tracked = {
  created_by: string;
  created_at: number;
  updated_by: string;
  updated_at: number;
  version: number;
};
