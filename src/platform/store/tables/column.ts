export type Flag = 0 | 1;

/** Creation and last change of a record. */
export type Tracked = {
  created_by: string;
  created_at: number;
  updated_by: string;
  updated_at: number;
  version: number;
};
