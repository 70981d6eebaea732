import { sql } from "kysely";
import type { Clock } from "../../../kit/clock.ts";
import type { NewId } from "../../../kit/ids.ts";
import type { MasterKey } from "../../../kit/seal.ts";
import { toSearchColumns } from "./entries.ts";
import {
  type AuditLink,
  findSigner,
  PAUSED,
  sealAuditKeys,
  type StoreAuditKey,
  toSignerId,
} from "../audit-key.ts";
import type { Db } from "../port.ts";
import { renewLink } from "./retained-link.ts";
import { signingKeyIds } from "./signing.ts";
import type { AuditHeadRow } from "../tables/schema.ts";

/** Stores the audit keys of former master keys that sign chains, so that their entries can be verified later. */
export const retireAuditKeys = async (
  tx: Db,
  masterKey: MasterKey,
  now: number,
): Promise<string[]> => {
  const signing = await signingKeyIds(tx);
  const retired = sealAuditKeys(masterKey).filter(({ id }) => signing.includes(id));
  if (retired.length > 0) {
    await tx
      .insertInto("audit_keys")
      .values(retired.map((key) => ({ ...key, retired_at: now })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return retired.map(({ id }) => id);
};

/** The names of the current key in heads, those of paused tenants included. */
const listHeadNames = ({ id }: StoreAuditKey): string[] => [id, PAUSED + id];

/** Returns the tenants whose chain another key than the current one signs. */
export const listTenantsOfFormerKeys = async (db: Db, key: StoreAuditKey): Promise<string[]> => {
  const rows = await db
    .selectFrom("audit_heads")
    .select("tenant_id")
    .where("key_id", "not in", listHeadNames(key))
    .orderBy("tenant_id")
    .execute();
  return rows.map(({ tenant_id }) => tenant_id);
};

/**
 * Lets a tenant's chain go on under the current key: an entry with its code follows the last one of the former key. A
 * head that was changed gets no signature, because that would hide the change. Does nothing the second time.
 */
export const takeOverChain = async (
  tx: Db,
  key: StoreAuditKey,
  tenantId: string,
  { clock, newId, operator }: { clock: Clock; newId: NewId; operator: string },
): Promise<void> => {
  // Takes the head row before anything is read from it.
  const head = await tx
    .updateTable("audit_heads")
    .set({ seq: sql`seq + 1` })
    .where("tenant_id", "=", tenantId)
    .where("key_id", "not in", listHeadNames(key))
    .returning(["seq", "hash", "purged_seq", "purged_hash", "mac", "key_id"])
    .executeTakeFirst();
  if (head === undefined) return;
  const { key_id, mac, ...ends } = head;
  const before = { ...ends, seq: head.seq - 1 };
  const setHead = (values: Partial<AuditHeadRow>) =>
    tx
      .updateTable("audit_heads")
      // A paused tenant stays paused.
      .set({ ...values, key_id: key_id.startsWith(PAUSED) ? PAUSED + key.id : key.id })
      .where("tenant_id", "=", tenantId)
      .execute();
  if (mac !== findSigner(key, key_id)?.head(tenantId, before)) {
    await setHead({ seq: before.seq, mac: "" });
    return;
  }
  const metadata = { formerKey: toSignerId(key_id), key: key.id, actor: operator };
  const fields = { method: "CLI", endpoint: "admin", action: "admin.key_changed" };
  const link: AuditLink = {
    ...fields,
    tenant_id: tenantId,
    seq: head.seq,
    id: newId(),
    at: clock(),
    status_code: 200,
    metadata: JSON.stringify(metadata),
    prev_hash: head.hash,
  };
  const hash = key.takeOver(link);
  await tx
    .insertInto("audit_logs")
    .values({ ...link, ...toSearchColumns({ ...fields, metadata }), hash })
    .execute();
  await setHead({ hash, mac: key.head(tenantId, { ...ends, hash }) });
  await renewLink(tx, key, tenantId, ends);
};
