import { createHash } from "node:crypto";
import { createSeal } from "../kit/seal.ts";
import type { Storage, StoredRecord } from "./store/port.ts";

/** One record in clear. */
export type Clear = {
  kind: string;
  id: string;
  value: unknown;
  expiresAt: number;
  grantId?: string | undefined;
  owner?: string | undefined;
};

export type Found = { value: Record<string, unknown>; consumedAt: number | null };

/** Ids are secrets mostly, such as tokens: 256 random bits need no salt. */
export const hashId = (id: string): string => createHash("sha256").update(id).digest("base64url");

/** Records as the authorization server reads and writes them: hashed and sealed on their way. */
export const createRecords = (storage: Storage, masterKey: Buffer) => {
  const seal = createSeal(masterKey, "oauth-record");

  const stored = ({ kind, id, value, expiresAt, grantId, owner }: Clear): StoredRecord => ({
    kind,
    id: hashId(id),
    grantId: grantId === undefined ? null : hashId(grantId),
    owner: owner === undefined ? null : hashId(owner),
    // With its place, so that a payload moved to another row does not open there.
    payload: seal.seal({ kind, id: hashId(id), value }),
    consumedAt: null,
    expiresAt,
  });

  const open = (record: StoredRecord): Found | undefined => {
    const opened = seal.open(record.payload) as
      | { kind: string; id: string; value: Record<string, unknown> }
      | undefined;
    if (opened?.kind !== record.kind || opened.id !== record.id) return undefined;
    return { value: opened.value, consumedAt: record.consumedAt };
  };

  const valuesOf = (all: StoredRecord[]): Record<string, unknown>[] =>
    all.map(open).flatMap((found) => (found === undefined ? [] : [found.value]));

  return {
    open,
    write: (record: Clear) => storage.upsert(stored(record)),
    add: (record: Clear) => storage.add(stored(record)),
    async find(kind: string, id: string): Promise<Found | undefined> {
      const record = await storage.find(kind, hashId(id));
      return record && open(record);
    },
    consume: (kind: string, id: string) => storage.consume(kind, hashId(id)),
    remove: (kind: string, id: string) => storage.remove(kind, hashId(id)),
    removeByGrant: (kind: string, grantId: string) => storage.removeByGrant(kind, hashId(grantId)),
    async ownedBy(kind: string, owner: string): Promise<Record<string, unknown>[]> {
      const all = await storage.listByOwner(kind, hashId(owner));
      return valuesOf(all);
    },
    async removeUngranted(kind: string, id: string): Promise<Record<string, unknown> | undefined> {
      const record = await storage.removeUngranted(kind, hashId(id));
      return record && open(record)?.value;
    },
    async ungranted(kind: string): Promise<Record<string, unknown>[]> {
      return valuesOf(await storage.listUngranted(kind));
    },
  };
};

export type Records = ReturnType<typeof createRecords>;
