import { hash } from "node:crypto";
import { listCovered } from "../audit-key.ts";
import type { Db } from "../port.ts";
import type { AuditLogRow, EvidenceHeadRow, EvidenceKeyRow } from "../tables/schema.ts";
import { ofTenant, rowsOfTenant } from "../engine/rows.ts";
import { formatStatement, isSignedBy } from "./evidence-keys.ts";

/** The unkeyed link of an entry: anyone can compute it. The one before the first entry is empty. */
export const computeLink = (previous: string, row: AuditLogRow): string =>
  hash("sha256", `${previous}\n${JSON.stringify(listCovered(row))}`, "hex");

/** A number of entries, and the unkeyed link of the last of them. */
export type Link = Pick<EvidenceHeadRow, "seq" | "link">;

/** Finds the nearest signed head at or before an entry that retention has left. */
export const findNearestHead = (
  db: Db,
  tenantId: string,
  { seq, purgedSeq }: { seq: number; purgedSeq: number },
): Promise<EvidenceHeadRow | undefined> =>
  rowsOfTenant(db, "evidence_heads", tenantId)
    .where("seq", ">", purgedSeq)
    .where("seq", "<=", seq)
    .where("signature", "<>", "")
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();

/** Finds the nearest signed head at or after an entry. */
export const findNextHead = (
  db: Db,
  tenantId: string,
  seq: number,
): Promise<EvidenceHeadRow | undefined> =>
  rowsOfTenant(db, "evidence_heads", tenantId)
    .where("seq", ">=", seq)
    .where("signature", "<>", "")
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();

/** Selects the entries after a link, up to a number. */
export const selectAfter = (db: Db, tenantId: string, { seq }: Link, last: number) =>
  rowsOfTenant(db, "audit_logs", tenantId)
    .where("seq", ">", seq)
    .where("seq", "<=", last)
    .orderBy("seq");

/** Finds the first and the last entry of a time; the range includes all entries between them, also those of other times. */
export const findEnds = async (
  db: Db,
  tenantId: string,
  { from, to }: { from: number; to: number },
): Promise<{ first: number; last: number } | undefined> => {
  const found = await ofTenant(db, "audit_logs", tenantId)
    .select((select) => [select.fn.min("seq").as("first"), select.fn.max("seq").as("last")])
    .where("at", ">=", from)
    .where("at", "<=", to)
    .executeTakeFirstOrThrow();
  return found.first === null ? undefined : found;
};

/** Stores a head; a signed one of the same entry that is there already stays. */
export const addHead = async (tx: Db, head: Omit<EvidenceHeadRow, "mac">): Promise<void> => {
  const { link, at, key_id, signature } = head;
  await tx
    .insertInto("evidence_heads")
    .values({ ...head, mac: "" })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant_id", "seq"])
        .doUpdateSet({ link, at, key_id, signature })
        .where("evidence_heads.signature", "=", ""),
    )
    .execute();
};

/** Lists the signed heads of a span of entries. */
export const listHeads = (db: Db, tenantId: string, [first, last]: readonly [number, number]) =>
  rowsOfTenant(db, "evidence_heads", tenantId)
    .where("seq", ">=", first)
    .where("seq", "<=", last)
    .where("signature", "<>", "")
    .orderBy("seq")
    .execute();

/** Lists the rows without a signature after an entry. There are none unless they were added or changed in the database. */
export const listStrayLinks = (db: Db, tenantId: string, seq: number) =>
  rowsOfTenant(db, "evidence_heads", tenantId)
    .where("seq", ">", seq)
    .where("signature", "=", "")
    .orderBy("seq")
    .execute();

/** Lists tenants whose log has grown since a head was last signed, or whose last head is from before `before`. */
export const listUnsigned = async (db: Db, before: number): Promise<string[]> => {
  const rows = await db
    .selectFrom("audit_heads")
    .leftJoin("evidence_heads", (join) =>
      join
        .onRef("evidence_heads.tenant_id", "=", "audit_heads.tenant_id")
        .on("evidence_heads.signature", "<>", ""),
    )
    .groupBy(["audit_heads.tenant_id", "audit_heads.seq"])
    .select((select) => [
      "audit_heads.tenant_id",
      "audit_heads.seq",
      select.fn.max("evidence_heads.seq").as("signed"),
      select.fn.max("evidence_heads.at").as("at"),
    ])
    .orderBy("audit_heads.tenant_id")
    .execute();
  return rows
    .filter(({ seq, signed, at }) => seq > (signed ?? 0) && (at ?? 0) <= before)
    .map(({ tenant_id }) => tenant_id);
};

/** The statement that a head signs. Its time is in ISO 8601. */
export const formatHead = (
  tenantId: string,
  { seq, link, signedAt }: Link & { signedAt: string },
): string => formatStatement("head", tenantId, seq, link, signedAt);

const LAST_MS = 8.64e15;

/** Whether the key that a stored head names has signed it. */
export const isHeadSigned = (keys: readonly EvidenceKeyRow[], row: EvidenceHeadRow): boolean => {
  const key = keys.find(({ id }) => id === row.key_id);
  // A time that was changed in the database may be none.
  if (key === undefined || Math.abs(row.at) > LAST_MS) return false;
  const signedAt = new Date(row.at).toISOString();
  return isSignedBy(key.public_key, formatHead(row.tenant_id, { ...row, signedAt }), row.signature);
};
