import { createHash, createHmac, createSecretKey } from "node:crypto";
import type { Clock } from "../../kit/clock.ts";
import type { NewId } from "../../kit/ids.ts";
import { keyFor } from "../../kit/seal.ts";
import type { AuditHeadRow, AuditLogRow } from "./tables.ts";

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
  /** The code of the head row of a tenant. */
  head(tenantId: string, head: AuditHead): string;
  keptHead(kept: KeptHead): string;
};

const serializeCovered = (row: AuditLink) => [
  row.prev_hash,
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

/** The hash of an entry from before chains had a key. */
export const computeUnkeyedHash = (row: AuditLink): string =>
  createHash("sha256")
    .update(JSON.stringify(serializeCovered(row)))
    .digest("hex");

/** Derives the key of the audit chain from the master key. */
export const createAuditKey = (masterKey: Buffer): AuditKey => {
  const key = createSecretKey(keyFor(masterKey, "audit-chain"));
  const code = (label: string, ...values: (string | number | null)[]): string =>
    createHmac("sha256", key)
      .update(JSON.stringify([label, ...values]))
      .digest("hex");
  return {
    id: code("id").slice(0, 16),
    link: (row) => code("link", ...serializeCovered(row)),
    seal: (row) => code("seal", ...serializeCovered(row)),
    head: (tenantId, { seq, hash, purged_seq, purged_hash }) =>
      code("head", tenantId, seq, hash, purged_seq, purged_hash),
    keptHead: ({ tenantId, seq, hash, timestamp }) =>
      code("kept-head", tenantId, seq, hash, timestamp),
  };
};

/** Dependencies of the signature of audit chains. */
export type SigningNeeds = {
  /**
   * Returns the master key. Without `mustExist` it may create one; with it, it throws where there is none, because
   * the store already depends on a key.
   */
  masterKey(mustExist: boolean): Promise<Buffer>;
  clock: Clock;
  newId: NewId;
};
