import { createHash } from "node:crypto";
import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Clock, formatTimestamp, systemClock } from "../kit/clock.ts";
import { createFileOnce } from "../kit/once.ts";
import { createSeal, type Seal } from "../kit/seal.ts";
import type { Renewal } from "../kit/sealed-column.ts";
import { listSealedFiles, renewFiles } from "../kit/sealed-files.ts";
import type { StoredSecret, Vault } from "./port.ts";

const SUFFIX = ".sealed";
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

export type VaultNeeds = {
  folder: string;
  /** Called at the first use, because the key may not exist before. */
  masterKey: () => Promise<Buffer>;
  clock?: Clock;
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/** Names a secret after its record; an id that cannot be a file name is replaced by its hash. */
const nameFor = (kind: string, keyId: string): string => {
  const id = keyId.toLowerCase();
  const plain = NAME.test(id) && id.length <= 64;
  return `${kind}-${plain ? id : createHash("sha256").update(keyId).digest("hex").slice(0, 32)}`;
};

const pathOf = (folder: string, name: string): string => join(folder, name + SUFFIX);

const openSeal = async ({ masterKey }: VaultNeeds): Promise<Seal> =>
  createSeal(await masterKey(), "vault");

const readEntry = async (needs: VaultNeeds, name: string): Promise<Entry | undefined> => {
  if (!NAME.test(name)) return undefined;
  const text = await readFile(pathOf(needs.folder, name), "utf8").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { data } = Entry.safeParse((await openSeal(needs)).open(text));
  // A file that was renamed or copied from another entry is ignored.
  return data?.name === name ? data : undefined;
};

const listNames = async (folder: string): Promise<string[]> => {
  const files = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return files
    .filter((file) => file.endsWith(SUFFIX))
    .toSorted()
    .map((file) => file.slice(0, -SUFFIX.length));
};

const describeEntry = ({ name, kind, keyId, createdAt }: Entry): StoredSecret => ({
  name,
  kind,
  keyId,
  createdAt,
});

/** Seals again the secrets that former master keys sealed. */
export const renewVault = async (needs: VaultNeeds): Promise<Renewal> =>
  renewFiles(await listSealedFiles(needs.folder), await openSeal(needs));

/** Creates a vault of encrypted files, one per secret, so that several processes can share a folder without a lock. */
export const createFileVault = (needs: VaultNeeds): Vault => {
  const { folder, clock = systemClock } = needs;
  return {
    async put({ kind, keyId, tenantId, value }) {
      const base = nameFor(kind, keyId);
      const { seal } = await openSeal(needs);
      for (let copy = 1; ; copy++) {
        const name = copy === 1 ? base : `${base}.${copy}`;
        const entry: Entry = {
          name,
          kind,
          keyId,
          tenantId,
          createdAt: formatTimestamp(clock()),
          value,
        };
        if (await createFileOnce(pathOf(folder, name), seal(entry))) return name;
      }
    },
    async list() {
      const names = await listNames(folder);
      const entries = await Promise.all(names.map((name) => readEntry(needs, name)));
      return entries.flatMap((entry) => (entry === undefined ? [] : [describeEntry(entry)]));
    },
    show: async (name) => (await readEntry(needs, name))?.value,
    async remove(name) {
      if (!NAME.test(name)) return false;
      return unlink(pathOf(folder, name)).then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      );
    },
  };
};
