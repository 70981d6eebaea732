import { hash } from "node:crypto";
import type { Clock } from "../../kit/clock.ts";
import { createHmacSha256 } from "../../kit/hmac.ts";
import type { NewId } from "../../kit/ids.ts";
import { createSeal, keyFor, keysFor, type MasterKey } from "../../kit/seal.ts";
import type { AuditHeadRow, AuditLogRow } from "./tables/schema.ts";

/** The fields of an entry that its link code covers; the others follow from them. */
export type AuditLink = Omit<AuditLogRow, "hash" | "search" | "schedule_id">;

/** Both ends of a tenant's chain: the last entry, and the last one that retention has removed. */
export type AuditHead = Pick<AuditHeadRow, "seq" | "hash" | "purged_seq" | "purged_hash">;

/** A head that is stored outside the database. */
export type KeptHead = { tenantId: string; seq: number; hash: string; timestamp: string };

/** Message authentication codes of the audit chain. Each kind has its own label, so none can replace another. */
export type AuditKey = {
  /** Identifies the key without revealing it. */
  id: string;
  /** The code of an entry, which covers the code of the entry before it. */
  link(row: AuditLink): string;
  /** The code of the entry that seals a chain from before chains had a key. */
  seal(row: AuditLink): string;
  /** The code of the entry with which a chain goes on under this key. */
  takeOver(row: AuditLink): string;
  /** The code of the head row of a tenant. */
  head(tenantId: string, head: AuditHead): string;
  keptHead(kept: KeptHead): string;
  /** The code of the unkeyed link of the last entry that retention has removed, bound to that entry's own code. */
  retained(
    tenantId: string,
    end: Pick<AuditHead, "purged_seq" | "purged_hash">,
    link: string,
  ): string;
  /** The code of the manifest of an exported tenant. */
  manifest(text: string): string;
};

/** The key that signs a store's audit chains. */
export type StoreAuditKey = AuditKey & {
  /** Keys of former master keys that the settings name: until a rotation replaces them they sign heads too. */
  former: readonly AuditKey[];
  /** Keys that rotations have replaced: they verify entries, and sign nothing. */
  retired: readonly AuditKey[];
};

/** Lists the keys that entries of a chain may have. */
export const listAuditKeys = (key: StoreAuditKey): AuditKey[] => [
  key,
  ...key.former,
  ...key.retired,
];

/**
 * Begins the `key_id` in the head of a paused tenant. Every writer of an entry takes the head and looks for this key, so
 * none can add an entry, nor commit the change that the entry stands for; a program from before pauses cannot either.
 */
export const PAUSED = "paused:";

/** Returns the id of the key that a head names, whether the tenant is paused or not. */
export const toSignerId = (keyId: string): string =>
  keyId.startsWith(PAUSED) ? keyId.slice(PAUSED.length) : keyId;

/** Returns the key that signs a head; undefined for another master key's. A head from before keys has no id. */
export const findSigner = (key: StoreAuditKey, keyId: string): AuditKey | undefined => {
  const named = toSignerId(keyId);
  return named === "" || named === key.id ? key : key.former.find(({ id }) => named === id);
};

/** The fields of an entry that its links cover, besides the link before it. */
export const listCovered = (row: Omit<AuditLink, "prev_hash">) => [
  row.tenant_id,
  row.seq,
  row.id,
  row.at,
  row.method,
  row.endpoint,
  row.action,
  row.status_code,
  row.metadata,
];

const serializeCovered = (row: AuditLink) => [row.prev_hash, ...listCovered(row)];

/** The hash of an entry from before chains had a key. */
export const computeUnkeyedHash = (row: AuditLink): string =>
  hash("sha256", JSON.stringify(serializeCovered(row)), "hex");

const PURPOSE = "audit-chain";

const toAuditKey = (secret: Buffer): AuditKey => {
  const hmac = createHmacSha256(secret, "hex");
  const code = (label: string, ...values: (string | number | null)[]): string =>
    hmac(JSON.stringify([label, ...values]));
  return {
    id: code("id").slice(0, 16),
    link: (row) => code("link", ...serializeCovered(row)),
    seal: (row) => code("seal", ...serializeCovered(row)),
    takeOver: (row) => code("take-over", ...serializeCovered(row)),
    head: (tenantId, { seq, hash, purged_seq, purged_hash }) =>
      code("head", tenantId, seq, hash, purged_seq, purged_hash),
    keptHead: ({ tenantId, seq, hash, timestamp }) =>
      code("kept-head", tenantId, seq, hash, timestamp),
    retained: (tenantId, { purged_seq, purged_hash }, link) =>
      code("retained-link", tenantId, purged_seq, purged_hash, link),
    manifest: (text) => code("manifest", text),
  };
};

export const OTHER_MASTER_KEY =
  "The audit logs of this store are signed with another master key. Set RECEIVABLES_SECRET_KEY, or the file" +
  " secret.key of the data folder, to the master key that the store's other programs use; while a rotation is" +
  " not finished, set RECEIVABLES_SECRET_KEY_PREVIOUS to the former one.";

/** Derives the keys of the audit chain from the master key; `sealed` are those of `sealAuditKeys`. */
export const createAuditKey = (
  masterKey: MasterKey,
  sealed: readonly string[] = [],
): StoreAuditKey => {
  const [current, ...former] = keysFor(masterKey, PURPOSE).map(toAuditKey);
  if (current === undefined) throw new Error("the master key has no audit key");
  const retired = sealed.map((text) => {
    const secret = sealOf(masterKey).open(text);
    if (typeof secret === "string") return toAuditKey(Buffer.from(secret, "base64url"));
    throw new Error(OTHER_MASTER_KEY);
  });
  return { ...current, former, retired };
};

/** The purpose of the seal around audit keys that a rotation has replaced. */
export const AUDIT_KEY_PURPOSE = "audit-key";

const sealOf = (masterKey: MasterKey) => createSeal(masterKey, AUDIT_KEY_PURPOSE);

/** Seals the audit keys of former master keys, so that their entries can be verified when those are gone. */
export const sealAuditKeys = (masterKey: MasterKey): { id: string; sealed: string }[] =>
  (masterKey.former ?? []).map((former) => {
    const secret = keyFor(former, PURPOSE);
    return {
      id: toAuditKey(secret).id,
      sealed: sealOf(masterKey).seal(secret.toString("base64url")),
    };
  });

/** Dependencies of the signature of audit chains. */
export type SigningNeeds = {
  /**
   * Returns the master key. Without `mustExist` it may create one; with it, it throws where there is none, because
   * the store already depends on a key.
   */
  masterKey(mustExist: boolean): Promise<MasterKey>;
  clock: Clock;
  newId: NewId;
  /** Receives the steps of an upgrade of the store before they are applied. */
  announceUpgrade?: ((steps: readonly string[]) => void) | undefined;
};
