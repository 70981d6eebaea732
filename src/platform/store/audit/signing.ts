import type { Clock } from "../../../kit/clock.ts";
import type { NewId } from "../../../kit/ids.ts";
import {
  type AuditHead,
  type AuditKey,
  createAuditKey,
  findSigner,
  OTHER_MASTER_KEY,
  type SigningNeeds,
  type StoreAuditKey,
  toSignerId,
} from "../audit-key.ts";
import type { Db } from "../port.ts";

/** Dependencies of the migration of existing audit chains. */
export type Sealing = { key(): Promise<AuditKey>; clock: Clock; newId: NewId };

/** Returns the needs of the migration that seals chains. The store has tenants by then, so the key must exist. */
export const createSealing = ({ masterKey, clock, newId }: SigningNeeds): Sealing => ({
  key: async () => createAuditKey(await masterKey(true)),
  clock,
  newId,
});

/** Returns the ids of the keys that the store's audit chains are signed with. */
export const signingKeyIds = async (db: Db): Promise<string[]> => {
  const rows = await db
    .selectFrom("audit_heads")
    .select("key_id")
    .distinct()
    .where("key_id", "<>", "")
    .execute();
  return [...new Set(rows.map(({ key_id }) => toSignerId(key_id)))];
};

/**
 * Reads the key that signs the store's audit chains.
 *
 * @throws {Error} where the store was signed with another master key, or where its key is missing
 */
export const readAuditKey = async (db: Db, { masterKey }: SigningNeeds): Promise<StoreAuditKey> => {
  const signed = await signingKeyIds(db);
  const retired = await db.selectFrom("audit_keys").select("sealed").execute();
  const key = createAuditKey(
    await masterKey(signed.length > 0),
    retired.map(({ sealed }) => sealed),
  );
  if (signed.every((id) => findSigner(key, id) !== undefined)) return key;
  throw new Error(OTHER_MASTER_KEY);
};

type SignedHead = AuditHead & { mac: string; key_id: string };

/** Whether a head has the code of the key that it names. */
export const isSigned = (key: StoreAuditKey, tenantId: string, head: SignedHead): boolean =>
  head.mac === findSigner(key, head.key_id)?.head(tenantId, head);

/** Whether a head was signed with a master key that this process does not have. */
export const isOtherKey = (key: StoreAuditKey, { key_id: id }: SignedHead): boolean =>
  findSigner(key, id) === undefined;
