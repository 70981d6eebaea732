import { hash } from "node:crypto";
import { z } from "zod";
import { type Clock, formatTimestamp, systemClock } from "../kit/clock.ts";
import { createFileOnce } from "../kit/once.ts";
import { createSeal, type Seal } from "../kit/seal.ts";
import type { Renewal } from "../kit/sealed-column.ts";
import {
  listSealedFiles,
  listSealedNames,
  readSealedFile,
  removeSealedFile,
  renewFiles,
  sealedPath,
} from "../kit/sealed-files.ts";
import type { StoredSecret, Vault } from "./port.ts";

// Names are command-line input and become file names.
const NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/;

const Entry = z.object({
  name: z.string(),
  kind: z.enum(["api-key", "webhook-secret"]),
  keyId: z.string(),
  tenantId: z.string(),
  createdAt: z.string(),
  value: z.string(),
});
type Entry = z.infer<typeof Entry>;

/** Sealed entries of a vault by name. Names have the form of a file name. */
export type VaultEntries = {
  /** Returns false if the name is taken. */
  create(name: string, sealed: string): Promise<boolean>;
  read(name: string): Promise<string | undefined>;
  remove(name: string): Promise<boolean>;
  list(): Promise<string[]>;
};

export type VaultNeeds = {
  /** Called at the first use, because the key may not exist before. */
  masterKey: () => Promise<Buffer>;
  clock?: Clock;
};

/** Names a secret after its record; an id that cannot be a file name is replaced by its hash. */
const nameFor = (kind: string, keyId: string): string => {
  const id = keyId.toLowerCase();
  const plain = NAME.test(id) && id.length <= 64;
  return `${kind}-${plain ? id : hash("sha256", keyId, "hex").slice(0, 32)}`;
};

/** The purpose for which entries are sealed. */
export const VAULT_PURPOSE = "vault";

const openSeal = async ({ masterKey }: VaultNeeds): Promise<Seal> =>
  createSeal(await masterKey(), VAULT_PURPOSE);

/** Stores entries as files, one per secret, so that several processes can share a folder without a lock. */
const createFileEntries = (folder: string): VaultEntries => ({
  create: (name, sealed) => createFileOnce(sealedPath(folder, name), sealed),
  read: (name) => readSealedFile(folder, name),
  remove: (name) => removeSealedFile(folder, name),
  list: () => listSealedNames(folder),
});

/** Stores new entries in `first`; `second` has older ones. */
const joinEntries = (first: VaultEntries, second: VaultEntries): VaultEntries => ({
  create: first.create,
  read: async (name) => (await first.read(name)) ?? second.read(name),
  remove: async (name) => (await first.remove(name)) || second.remove(name),
  list: async () => [...(await first.list()), ...(await second.list())],
});

// Named one by one, so that nothing else of an entry is ever listed beside its secret.
const describeEntry = ({ name, kind, keyId, tenantId, createdAt }: Entry): StoredSecret => ({
  name,
  kind,
  keyId,
  tenantId,
  createdAt,
});

/** Seals again the secrets in files that former master keys sealed. */
export const renewVault = async (needs: VaultNeeds & { folder: string }): Promise<Renewal> =>
  renewFiles(await listSealedFiles(needs.folder), await openSeal(needs));

/** Creates a vault of encrypted files, or of entries that several nodes share; it reads the files then, too. */
export const createVault = (
  needs: VaultNeeds & { folder: string },
  shared?: VaultEntries,
): Vault => {
  const { folder, clock = systemClock } = needs;
  const files = createFileEntries(folder);
  const entries = shared === undefined ? files : joinEntries(shared, files);

  const readEntry = async (name: string): Promise<Entry | undefined> => {
    const text = NAME.test(name) ? await entries.read(name) : undefined;
    if (text === undefined) return undefined;
    const { data } = Entry.safeParse((await openSeal(needs)).open(text));
    // An entry that was renamed, or copied from another one, is ignored.
    return data?.name === name ? data : undefined;
  };

  return {
    async put({ kind, keyId, tenantId, value }) {
      const base = nameFor(kind, keyId);
      const { seal } = await openSeal(needs);
      for (let copy = 1; ; copy++) {
        const name = copy === 1 ? base : `${base}.${copy}`;
        const createdAt = formatTimestamp(clock());
        const entry: Entry = { name, kind, keyId, tenantId, createdAt, value };
        if (await entries.create(name, seal(entry))) return name;
      }
    },
    async list() {
      const names = new Set((await entries.list()).toSorted());
      const found = await Promise.all([...names].map(readEntry));
      return found.flatMap((entry) => (entry === undefined ? [] : [describeEntry(entry)]));
    },
    show: async (name) => (await readEntry(name))?.value,
    remove: async (name) => NAME.test(name) && entries.remove(name),
  };
};
