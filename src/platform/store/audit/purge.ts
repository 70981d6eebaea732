/** The end of retention for audit entries. */
import { type AuditHead, findSigner, type StoreAuditKey } from "../audit-key.ts";
import type { Db } from "../port.ts";
import { requireSigner } from "./chain.ts";
import { advanceEnd, type ChainEnd } from "./links.ts";
import { keepLink } from "./retained-link.ts";

/** An audit chain, or the link that retention has left of it, was changed outside the program, so no entry is removed. */
export class AuditChainChanged extends Error {
  constructor(tenantId: string) {
    super(`the audit log of tenant ${tenantId} was changed; see: admin audit verify ${tenantId}`);
    this.name = "AuditChainChanged";
  }
}

const PURGED_AT_ONCE = 1000;

/** Reads the first entries of a chain and both of its ends, from one snapshot. */
const selectBeginning = (tx: Db, tenantId: string) =>
  tx
    .selectFrom("audit_logs")
    .leftJoin("audit_heads", "audit_heads.tenant_id", "audit_logs.tenant_id")
    .selectAll("audit_logs")
    .select([
      "audit_heads.seq as head_seq",
      "audit_heads.hash as head_hash",
      "audit_heads.purged_seq",
      "audit_heads.purged_hash",
      "audit_heads.mac",
      "audit_heads.key_id",
    ])
    .where("audit_logs.tenant_id", "=", tenantId)
    .orderBy("audit_logs.seq")
    .limit(PURGED_AT_ONCE)
    .execute();
type Beginning = Awaited<ReturnType<typeof selectBeginning>>[number];

const verifyHead = (storeKey: StoreAuditKey, row: Beginning): AuditHead => {
  const { head_seq: seq, head_hash: hash, purged_seq, purged_hash } = row;
  const key = findSigner(storeKey, row.key_id ?? "");
  if (
    seq !== null &&
    hash !== null &&
    purged_seq !== null &&
    purged_hash !== null &&
    row.mac === key?.head(row.tenant_id, { seq, hash, purged_seq, purged_hash })
  ) {
    return { seq, hash, purged_seq, purged_hash };
  }
  throw new AuditChainChanged(row.tenant_id);
};

/** Returns the last of the leading entries that are old enough, and their number. */
const findOld = (
  key: StoreAuditKey,
  rows: readonly Beginning[],
  head: AuditHead,
  before: number,
): { end: ChainEnd; count: number } => {
  let end: ChainEnd = { seq: head.purged_seq, hash: head.purged_hash, era: undefined };
  let count = 0;
  for (const row of rows) {
    if (row.at >= before) break;
    const next = advanceEnd(key, end, row);
    if (next === undefined) {
      if (count > 0) break;
      throw new AuditChainChanged(row.tenant_id);
    }
    end = next;
    count += 1;
  }
  return { end, count };
};

/**
 * Removes entries that begin a tenant's chain and are older than `before`, at most 1,000. The head keeps the code of
 * the last one, which the first remaining entry refers to. Returns how many.
 *
 * @throws {AuditChainChanged} where the head, one of these entries or the link before them was changed
 */
export const purgeEntries = async (
  tx: Db,
  storeKey: StoreAuditKey,
  tenantId: string,
  before: number,
): Promise<number> => {
  const rows = await selectBeginning(tx, tenantId);
  const [first] = rows;
  if (first === undefined) return 0;
  const head = verifyHead(storeKey, first);
  const { end, count } = findOld(storeKey, rows, head, before);
  if (count === 0) return 0;
  await tx
    .deleteFrom("audit_logs")
    .where("tenant_id", "=", tenantId)
    .where("seq", "<=", end.seq)
    .where("at", "<", before)
    .execute();
  const purged = { purged_seq: end.seq, purged_hash: end.hash };
  // Last, because it takes the tenant's head row. Entries may have been appended since; another process may have
  // removed the same ones, and then this changes nothing.
  const now = await tx
    .updateTable("audit_heads")
    .set(purged)
    .where("tenant_id", "=", tenantId)
    .where("purged_seq", "=", head.purged_seq)
    .returning(["seq", "hash", "mac", "key_id"])
    .executeTakeFirst();
  if (now === undefined) return count;
  const key = requireSigner(storeKey, tenantId, now.key_id);
  if (now.mac !== key.head(tenantId, { ...head, ...now })) throw new AuditChainChanged(tenantId);
  await tx
    .updateTable("audit_heads")
    .set({ mac: key.head(tenantId, { ...now, ...purged }) })
    .where("tenant_id", "=", tenantId)
    .execute();
  const removed = { rows: rows.slice(0, count), before: head, end: purged, at: before };
  const isKept = await keepLink(tx, { storeKey, signer: key }, tenantId, removed);
  if (!isKept) throw new AuditChainChanged(tenantId);
  return count;
};
