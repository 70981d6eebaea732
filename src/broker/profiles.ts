import { mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { z } from "zod";
import { createSeal } from "../kit/seal.ts";
import { Secret } from "../kit/secret.ts";
import type { Credentials } from "./credentials.ts";

/** A platform and what opens it, under a name. Its credentials go to its own addresses and nowhere else. */
export type Profile = {
  name: string;
  baseUrl: string;
  extBaseUrl?: string | undefined;
  tenantId?: string | undefined;
  credentials: Credentials;
  /** Of the API key that was made for it, so that it can be revoked. */
  keyId?: string | undefined;
};

const SUFFIX = ".sealed";

const Sealed = z.object({
  name: z.string(),
  baseUrl: z.string(),
  extBaseUrl: z.string().optional(),
  tenantId: z.string().optional(),
  keyId: z.string().optional(),
  apiKey: z.string().optional(),
  extApiKey: z.string().optional(),
  email: z.string().optional(),
  password: z.string().optional(),
});
type Sealed = z.infer<typeof Sealed>;

const secret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text);

type Flat = Pick<Sealed, "apiKey" | "extApiKey" | "email" | "password">;

export const credentialsOf = ({ apiKey, extApiKey, email, password }: Flat): Credentials => ({
  apiKey: secret(apiKey),
  extApiKey: secret(extApiKey),
  email,
  password: secret(password),
});

const sealable = ({ credentials, ...profile }: Profile): Sealed => ({
  ...profile,
  apiKey: credentials.apiKey?.reveal(),
  extApiKey: credentials.extApiKey?.reveal(),
  email: credentials.email,
  password: credentials.password?.reveal(),
});

/** What `login` stored. */
export type Profiles = {
  read(name: string): Promise<Profile | undefined>;
  write(profile: Profile): Promise<void>;
  remove(name: string): Promise<boolean>;
  list(): Promise<Profile[]>;
};

// A folder that is none holds no profile; what else it is good for is told by whoever needs it.
const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ENOENT|ENOTDIR)$/.test(String(error.code));

/** Profiles sealed in a folder, a file each, so that several processes may use it without a lock. */
export const sealedProfiles = ({
  folder,
  masterKey,
}: {
  folder: string;
  masterKey: () => Promise<Buffer>;
}): Profiles => {
  const seal = async () => createSeal(await masterKey(), "profile");
  const path = (name: string) => join(folder, name + SUFFIX);

  const read = async (name: string): Promise<Profile | undefined> => {
    const text = await readFile(path(name), "utf8").catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const { data } = Sealed.safeParse((await seal()).open(text));
    // A file under another's name is not what it says it is.
    if (data?.name !== name) {
      throw new Error(`${path(name)} does not open with this master key: log in again.`);
    }
    const { apiKey, extApiKey, email, password, ...profile } = data;
    return { ...profile, credentials: credentialsOf({ apiKey, extApiKey, email, password }) };
  };

  return {
    read,
    async write(profile) {
      const text = (await seal()).seal(sealable(profile));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path(profile.name), text, { mode: 0o600 });
    },
    remove: (name) =>
      unlink(path(name)).then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      ),
    async list() {
      const files = await readdir(folder).catch((error: unknown): string[] => {
        if (isMissing(error)) return [];
        throw error;
      });
      const names = files.filter((file) => file.endsWith(SUFFIX)).toSorted();
      const all = await Promise.all(names.map((file) => read(file.slice(0, -SUFFIX.length))));
      return all.filter((profile) => profile !== undefined);
    },
  };
};
