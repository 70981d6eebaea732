/** The link of the last entry that retention has removed, from which the links of the remaining ones follow. */
import type { AuditHead, AuditKey, StoreAuditKey } from "../audit-key.ts";
import { rowsOfTenant } from "../engine/rows.ts";
import type { Db } from "../port.ts";
import type { AuditLogRow, EvidenceHeadRow } from "../tables/schema.ts";
import { computeLink, type Link } from "./evidence.ts";

/** The last entry that retention has removed, as the head of the chain has it. */
export type PurgedEnd = Pick<AuditHead, "purged_seq" | "purged_hash">;

/** The link before the first entry. */
const START: Link = { seq: 0, link: "" };

export const findLinkRow = (
  db: Db,
  tenantId: string,
  seq: number,
): Promise<EvidenceHeadRow | undefined> =>
  rowsOfTenant(db, "evidence_heads", tenantId).where("seq", "=", seq).executeTakeFirst();

/** Whether a key that signs the heads of chains has written the code of a link. */
const hasCode = (key: StoreAuditKey, row: EvidenceHeadRow, end: PurgedEnd): boolean =>
  [key, ...key.former].some((one) => row.mac === one.retained(row.tenant_id, end, row.link));

/**
 * Finds the link before the first entry that retention has left. Returns undefined where it was changed, removed or added
 * in the database, or was left by a version before these links had a code.
 */
export const findRetainedLink = async (
  db: Db,
  key: StoreAuditKey,
  tenantId: string,
  end: PurgedEnd,
): Promise<Link | undefined> => {
  const row = await findLinkRow(db, tenantId, end.purged_seq);
  if (end.purged_seq === 0) return row === undefined ? START : undefined;
  return row !== undefined && hasCode(key, row, end) ? { seq: row.seq, link: row.link } : undefined;
};

/** Stores a link with its code. Returns false where the entry has another one already, which was added in the database. */
export const storeLink = async (
  tx: Db,
  key: AuditKey,
  tenantId: string,
  { end, link, at }: { end: PurgedEnd; link: string; at: number },
): Promise<boolean> => {
  const mac = key.retained(tenantId, end, link);
  const row = { tenant_id: tenantId, seq: end.purged_seq, link, at };
  const stored = await tx
    .insertInto("evidence_heads")
    .values({ ...row, key_id: "", signature: "", mac })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "seq"])
        .doUpdateSet({ mac })
        .where("evidence_heads.link", "=", link),
    )
    .returning("seq")
    .execute();
  return stored.length > 0;
};

/**
 * Leaves a link behind for entries that are removed with the beginning of a chain, and forgets earlier ones. Returns false
 * where a link was changed, removed or added in the database.
 */
export const keepLink = async (
  tx: Db,
  { storeKey, signer }: { storeKey: StoreAuditKey; signer: AuditKey },
  tenantId: string,
  {
    rows,
    before,
    end,
    at,
  }: { rows: readonly AuditLogRow[]; before: PurgedEnd; end: PurgedEnd; at: number },
): Promise<boolean> => {
  const base = await findRetainedLink(tx, storeKey, tenantId, before);
  if (base === undefined) return false;
  const link = rows.reduce((previous, row) => computeLink(previous, row), base.link);
  await tx
    .deleteFrom("evidence_heads")
    .where("tenant_id", "=", tenantId)
    .where("seq", "<", end.purged_seq)
    .execute();
  return storeLink(tx, signer, tenantId, { end, link, at });
};

/** Starts the links of an imported log from which retention had removed entries. The first one left follows an empty link. */
export const startLinks = async (
  tx: Db,
  key: AuditKey,
  { tenant_id: tenantId, ...end }: PurgedEnd & { tenant_id: string },
): Promise<void> => {
  if (end.purged_seq > 0) await storeLink(tx, key, tenantId, { end, link: START.link, at: 0 });
};

/** Gives a link a code of the current key when a chain goes on under it. One whose code is missing or wrong gets none. */
export const renewLink = async (
  tx: Db,
  key: StoreAuditKey,
  tenantId: string,
  end: PurgedEnd,
): Promise<void> => {
  const row = await findLinkRow(tx, tenantId, end.purged_seq);
  if (row === undefined || !hasCode(key, row, end)) return;
  await tx
    .updateTable("evidence_heads")
    .set({ mac: key.retained(tenantId, end, row.link) })
    .where("tenant_id", "=", tenantId)
    .where("seq", "=", end.purged_seq)
    .execute();
};

/** Lists tenants whose retained link has no code, because a version before codes has left it or left none. */
export const listWithoutCode = async (db: Db): Promise<string[]> => {
  const rows = await db
    .selectFrom("audit_heads")
    .leftJoin("evidence_heads", (join) =>
      join
        .onRef("evidence_heads.tenant_id", "=", "audit_heads.tenant_id")
        .onRef("evidence_heads.seq", "=", "audit_heads.purged_seq"),
    )
    .select(["audit_heads.tenant_id", "evidence_heads.mac"])
    .where("audit_heads.purged_seq", ">", 0)
    .orderBy("audit_heads.tenant_id")
    .execute();
  return rows.filter(({ mac }) => mac === null || mac === "").map(({ tenant_id }) => tenant_id);
};
