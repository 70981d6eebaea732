import type { Metadata } from "../store/audit-chain.ts";
import { findHead, foundBy, linkHash, selectChain } from "../store/audit-chain.ts";
import type { AuditLogRow } from "../store/tables.ts";
import { type AdminNeeds, checkTenantExists } from "./tenants.ts";

export type Verdict = {
  tenantId: string;
  /** How many there are, good and bad. */
  entries: number;
  /** The number of the last entry up to which the chain holds. */
  sealedTo: number;
  ok: boolean;
  /** The first entry that does not fit the one before it, or is not what it was; null where none shows it. */
  firstBadId: string | null;
};

type Link = { seq: number; hash: string };

const metadataOf = (text: string): Metadata | undefined => {
  try {
    return JSON.parse(text) as Metadata;
  } catch {
    return undefined;
  }
};

/** Whether an entry follows the link before it and stands as it was written. */
const follows = (before: Link, row: AuditLogRow): boolean => {
  const isLinked =
    row.seq === before.seq + 1 && row.prev_hash === before.hash && row.hash === linkHash(row);
  const metadata = isLinked ? metadataOf(row.metadata) : undefined;
  if (metadata === undefined) return false;
  const { schedule_id, search } = foundBy({ ...row, metadata });
  return row.schedule_id === schedule_id && row.search === search;
};

/** Reads a tenant's audit log from its beginning and tells whether anything was altered, removed, added or moved. */
export const verifyAudit = async (
  { store }: Pick<AdminNeeds, "store">,
  tenantId: string,
): Promise<Verdict> => {
  await checkTenantExists(store.read, tenantId);
  const snapshot = await store.snapshot();
  try {
    const head = await findHead(snapshot.db, tenantId);
    let last: Link = { seq: head.purged_seq, hash: head.purged_hash };
    let entries = 0;
    let firstBadId: string | null = null;
    for await (const row of snapshot.stream(selectChain(snapshot.db, tenantId))) {
      entries += 1;
      if (firstBadId !== null) continue;
      if (row.seq <= head.seq && follows(last, row)) last = { seq: row.seq, hash: row.hash };
      else firstBadId = row.id;
    }
    // What is cut off at the end leaves no entry that shows it, but a head that says more.
    const ok = firstBadId === null && last.seq === head.seq && last.hash === head.hash;
    return { tenantId, entries, sealedTo: last.seq, ok, firstBadId };
  } finally {
    await snapshot.close();
  }
};
