import { toSearchColumns, type Metadata } from "./audit-entries.ts";
import { type AuditKey, computeUnkeyedHash } from "./audit-key.ts";
import type { AuditLogRow } from "./tables.ts";

/**
 * The last valid entry of a chain so far. `unkeyed`: entries from before chains had a key, which only a seal may
 * follow; undefined: no entry was checked yet.
 */
export type ChainEnd = { seq: number; hash: string; era: "unkeyed" | "keyed" | undefined };

const parseMetadata = (text: string): Metadata | undefined => {
  try {
    return JSON.parse(text) as Metadata;
  } catch {
    return undefined;
  }
};

/** Whether the search columns match the entry that they are derived from. */
const isFoundBy = (row: AuditLogRow): boolean => {
  const metadata = parseMetadata(row.metadata);
  if (metadata === undefined) return false;
  const { schedule_id, search } = toSearchColumns({ ...row, metadata });
  return row.schedule_id === schedule_id && row.search === search;
};

const findEra = (key: AuditKey, { era }: ChainEnd, row: AuditLogRow): ChainEnd["era"] => {
  if (era !== "unkeyed" && row.hash === key.link(row)) return "keyed";
  if (era === "keyed") return undefined;
  if (row.hash === key.seal(row)) return "keyed";
  return row.hash === computeUnkeyedHash(row) ? "unkeyed" : undefined;
};

/** Returns the end of the chain after one more entry; undefined if the entry does not follow or was changed. */
export const advanceEnd = (
  key: AuditKey,
  end: ChainEnd,
  row: AuditLogRow,
): ChainEnd | undefined => {
  if (row.seq !== end.seq + 1 || row.prev_hash !== end.hash || !isFoundBy(row)) return undefined;
  const era = findEra(key, end, row);
  return era === undefined ? undefined : { seq: row.seq, hash: row.hash, era };
};
