import { toSearchColumns, type Metadata } from "./entries.ts";
import {
  type AuditKey,
  computeUnkeyedHash,
  listAuditKeys,
  type StoreAuditKey,
} from "../audit-key.ts";
import type { AuditLogRow } from "../tables/schema.ts";

/**
 * The last valid entry of a chain so far, and the key that entry has. `unkeyed`: from before chains had a key, so that
 * only a seal may follow; undefined: no entry was checked yet.
 */
export type ChainEnd = { seq: number; hash: string; era: "unkeyed" | AuditKey | undefined };

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

const findEra = (storeKey: StoreAuditKey, { era }: ChainEnd, row: AuditLogRow): ChainEnd["era"] => {
  const isKeyed = era !== undefined && era !== "unkeyed";
  if (isKeyed && row.hash === era.link(row)) return era;
  const keys = listAuditKeys(storeKey);
  if (isKeyed) return keys.find((key) => row.hash === key.takeOver(row));
  const sealing = keys.find((key) => row.hash === key.seal(row));
  if (sealing !== undefined) return sealing;
  // The first entry that retention has left may be of any kind.
  const first = (key: AuditKey) => row.hash === key.link(row) || row.hash === key.takeOver(row);
  const found = era === undefined ? keys.find(first) : undefined;
  return found ?? (row.hash === computeUnkeyedHash(row) ? "unkeyed" : undefined);
};

/** Returns the end of the chain after one more entry; undefined if the entry does not follow or was changed. */
export const advanceEnd = (
  key: StoreAuditKey,
  end: ChainEnd,
  row: AuditLogRow,
): ChainEnd | undefined => {
  if (row.seq !== end.seq + 1 || row.prev_hash !== end.hash || !isFoundBy(row)) return undefined;
  const era = findEra(key, end, row);
  return era === undefined ? undefined : { seq: row.seq, hash: row.hash, era };
};
