import { createHash } from "node:crypto";
import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Clock, iso, systemClock } from "../kit/clock.ts";
import { createFileOnce } from "../kit/once.ts";
import { createSeal } from "../kit/seal.ts";
import type { StoredSecret, Vault } from "./port.ts";

const SUFFIX = ".sealed";
// Names come from a person's command line and become file names.
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
  /** Made when the vault is first used. */
  masterKey: () => Promise<Buffer>;
  clock?: Clock;
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

// The id is the platform's: whatever could not be a file name gives way to its hash.
const nameOf = (kind: string, keyId: string): string => {
  const id = keyId.toLowerCase();
  const plain = NAME.test(id) && id.length <= 64;
  return `${kind}-${plain ? id : createHash("sha256").update(keyId).digest("hex").slice(0, 32)}`;
};

/** Sealed secrets, a file each, so that several processes may use one folder without a lock. */
export const fileVault = ({ folder, masterKey, clock = systemClock }: VaultNeeds): Vault => {
  const seal = async () => createSeal(await masterKey(), "vault");
  const path = (name: string) => join(folder, name + SUFFIX);

  const read = async (name: string): Promise<Entry | undefined> => {
    if (!NAME.test(name)) return undefined;
    const text = await readFile(path(name), "utf8").catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const { data } = Entry.safeParse((await seal()).open(text));
    // A file under another's name is not what it says it is.
    return data?.name === name ? data : undefined;
  };

  return {
    async put({ kind, keyId, tenantId, value }) {
      const base = nameOf(kind, keyId);
      const sealed = await seal();
      for (let copy = 1; ; copy++) {
        const name = copy === 1 ? base : `${base}.${copy}`;
        const entry: Entry = { name, kind, keyId, tenantId, createdAt: iso(clock()), value };
        if (await createFileOnce(path(name), sealed.seal(entry))) return name;
      }
    },
    async list() {
      const files = await readdir(folder).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      const names = files.filter((file) => file.endsWith(SUFFIX)).toSorted();
      const entries = await Promise.all(names.map((file) => read(file.slice(0, -SUFFIX.length))));
      return entries.flatMap((entry): StoredSecret[] =>
        entry === undefined
          ? []
          : [
              {
                name: entry.name,
                kind: entry.kind,
                keyId: entry.keyId,
                createdAt: entry.createdAt,
              },
            ],
      );
    },
    async show(name) {
      return (await read(name))?.value;
    },
    async remove(name) {
      if (!NAME.test(name)) return false;
      return unlink(path(name)).then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      );
    },
  };
};
