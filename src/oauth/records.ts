import { createSeal, joinSeals, type MasterKey } from "../kit/seal.ts";
import { fitsColumn, type Renewal, renewColumn } from "../kit/sealed-column.ts";
import { hashId, type OauthStore, type Storage, type StoredRecord } from "../records/port.ts";
import { SEALED_PAYLOADS } from "../records/sealed-payloads.ts";

/** One record before encryption. */
export type PlainRecord = {
  kind: string;
  id: string;
  value: unknown;
  expiresAt: number;
  grantId?: string | undefined;
  owner?: string | undefined;
};

type FoundRecord = { value: Record<string, unknown>; consumedAt: number | null };

const PURPOSE = "oauth-record";

const joinPurposes = (masterKey: MasterKey, purposes: readonly string[]) =>
  joinSeals([PURPOSE, ...purposes].map((purpose) => createSeal(masterKey, purpose)));

/** @throws {Error} where there are records, and the master key opens none of them, for any of these purposes */
export const checkRecordsKey = async (
  { read }: OauthStore,
  masterKey: () => Promise<MasterKey>,
  purposes: readonly string[],
): Promise<void> => {
  const openSeal = async () => joinPurposes(await masterKey(), purposes);
  if (await fitsColumn(read, SEALED_PAYLOADS, openSeal)) return;
  throw new Error(
    "The sessions, sign-ins and secrets in this database are sealed with another master key. Set" +
      " RECEIVABLES_SECRET_KEY, or the file secret.key of the data folder, to the master key of the other nodes; while" +
      " a rotation is not finished, set RECEIVABLES_SECRET_KEY_PREVIOUS to the former one.",
  );
};

/** Seals again the records that former master keys sealed, for any of these purposes, also while servers run. */
export const renewRecords = (
  store: OauthStore,
  masterKey: MasterKey,
  purposes: readonly string[] = [],
): Promise<Renewal> =>
  renewColumn((act) => store.transaction(act), SEALED_PAYLOADS, joinPurposes(masterKey, purposes));

/** Creates the authorization server's access to its records, which hashes ids and encrypts values. */
export const createRecords = (storage: Storage, masterKey: MasterKey) => {
  const seal = createSeal(masterKey, PURPOSE);

  const encrypt = ({ kind, id, value, expiresAt, grantId, owner }: PlainRecord): StoredRecord => ({
    kind,
    id: hashId(id),
    grant_id: grantId === undefined ? null : hashId(grantId),
    owner: owner === undefined ? null : hashId(owner),
    // Contains its key, so that a payload copied to another row is refused.
    payload: seal.seal({ kind, id: hashId(id), value }),
    consumed_at: null,
    expires_at: expiresAt,
  });

  const decrypt = (record: StoredRecord): FoundRecord | undefined => {
    const opened = seal.open(record.payload) as
      | { kind: string; id: string; value: Record<string, unknown> }
      | undefined;
    if (opened?.kind !== record.kind || opened.id !== record.id) return undefined;
    return { value: opened.value, consumedAt: record.consumed_at };
  };

  const decryptAll = (all: StoredRecord[]): Record<string, unknown>[] =>
    all.map(decrypt).flatMap((found) => (found === undefined ? [] : [found.value]));

  return {
    decryptAll,
    write: (record: PlainRecord) => storage.upsert(encrypt(record)),
    add: (record: PlainRecord) => storage.add(encrypt(record)),
    async find(kind: string, id: string): Promise<FoundRecord | undefined> {
      const record = await storage.find(kind, hashId(id));
      return record && decrypt(record);
    },
    consume: (kind: string, id: string) => storage.consume(kind, hashId(id)),
    remove: (kind: string, id: string) => storage.remove(kind, hashId(id)),
    removeByGrant: (kind: string, grantId: string) => storage.removeByGrant(kind, hashId(grantId)),
    listByOwner: async (kind: string, owner: string) =>
      decryptAll(await storage.listByOwner(kind, hashId(owner))),
    async removeUngranted(kind: string, id: string): Promise<Record<string, unknown> | undefined> {
      const record = await storage.removeUngranted(kind, hashId(id));
      return record && decrypt(record)?.value;
    },
    listUngranted: async (kind: string) => decryptAll(await storage.listUngranted(kind)),
  };
};

export type Records = ReturnType<typeof createRecords>;
