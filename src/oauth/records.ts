import { createHash } from "node:crypto";
import { createSeal } from "../kit/seal.ts";

/** What is kept: ids are hashes and payloads sealed, so that a copy of the store opens nothing. */
export type StoredRecord = {
  kind: string;
  id: string;
  /** The grant that it ends with. */
  grantId: string | null;
  owner: string | null;
  payload: string;
  consumedAt: number | null;
  expiresAt: number;
};

/** A memory that all processes of the server share; moments in epoch milliseconds. What has expired is not found. */
export type Storage = {
  upsert(record: StoredRecord): Promise<void>;
  /** False where there is one already. */
  add(record: StoredRecord): Promise<boolean>;
  find(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** True for the first who asks. */
  consume(kind: string, id: string): Promise<boolean>;
  remove(kind: string, id: string): Promise<boolean>;
  removeByGrant(kind: string, grantId: string): Promise<void>;
  ownedBy(kind: string, owner: string): Promise<StoredRecord[]>;
  /** Makes room for one more owned record of a kind: while there are `max`, the owner of the most loses the oldest. */
  makeRoom(kind: string, max: number): Promise<void>;
  /** Removes it where it owns no grant, and tells what it was. */
  removeUngranted(kind: string, id: string): Promise<StoredRecord | undefined>;
  /** Some of those of a kind that own no grant. */
  ungranted(kind: string): Promise<StoredRecord[]>;
  /** Some of the grants of which nothing is left that could be used. */
  spentGrants(expiresBefore: number): Promise<StoredRecord[]>;
  /** Removes some of what has expired, and tells how many. */
  purge(): Promise<number>;
  /** Counts one more try under a key, within a window that the first one opened. */
  tally(key: string, windowMs: number): Promise<{ count: number; endsAt: number }>;
  /** Takes a try back. */
  untally(key: string): Promise<void>;
};

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
      const all = await storage.ownedBy(kind, hashId(owner));
      return valuesOf(all);
    },
    async removeUngranted(kind: string, id: string): Promise<Record<string, unknown> | undefined> {
      const record = await storage.removeUngranted(kind, hashId(id));
      return record && open(record)?.value;
    },
    async ungranted(kind: string): Promise<Record<string, unknown>[]> {
      return valuesOf(await storage.ungranted(kind));
    },
  };
};

export type Records = ReturnType<typeof createRecords>;
