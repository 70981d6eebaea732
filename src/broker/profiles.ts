import { mkdir, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { z } from "zod";
import { Problem } from "../contract/errors.ts";
import { createSeal } from "../kit/seal.ts";
import { Secret } from "../kit/secret.ts";
import type { Credentials } from "./credentials.ts";
import { type Keychain, KeychainError } from "./keychain.ts";
import { createLocker } from "./locker.ts";

/** A platform, and the name under which it is known. */
type About = {
  name: string;
  /** Absent: the platform that is part of this program. */
  baseUrl?: string | undefined;
  extBaseUrl?: string | undefined;
  tenantId?: string | undefined;
  /** Whom of an issuer of tokens it is for, by their subjects. */
  subjects?: readonly string[] | undefined;
  /** Of the API key that was made for it, so that it can be revoked. */
  keyId?: string | undefined;
};

/** A platform and what opens it, under a name. Its credentials go to its own addresses and nowhere else. */
export type Profile = About & { credentials: Credentials };

const SECRETS = ["apiKey", "extApiKey", "password"] as const;
type SecretName = (typeof SECRETS)[number];

/** Where the secrets of a profile are; `why` says what kept them out of the keychain. */
export type Kept =
  | { in: "keychain" }
  | { in: "sealed_file"; path: string; why: string | undefined };

/** What may be shown of a profile, which takes none of its secrets to know. */
export type ProfileEntry = About & {
  email?: string | undefined;
  has: readonly SecretName[];
  keptIn: Kept["in"];
};

const SUFFIX = ".sealed";

const Sealed = z.object({
  name: z.string(),
  baseUrl: z.string().optional(),
  extBaseUrl: z.string().optional(),
  tenantId: z.string().optional(),
  keyId: z.string().optional(),
  email: z.string().optional(),
  has: z.array(z.enum(SECRETS)),
  account: z.string().optional(),
  secrets: z.string(),
});
type Sealed = z.infer<typeof Sealed>;

const Secrets = z.partialRecord(z.enum(SECRETS), z.string());
type Secrets = z.infer<typeof Secrets>;

const secret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text);

export const credentialsOf = ({
  apiKey,
  extApiKey,
  email,
  password,
}: Secrets & { email?: string | undefined }): Credentials => ({
  apiKey: secret(apiKey),
  extApiKey: secret(extApiKey),
  email,
  password: secret(password),
});

const has = (credentials: Credentials): SecretName[] =>
  SECRETS.filter((name) => credentials[name] !== undefined);

const revealed = (credentials: Credentials): Secrets =>
  Object.fromEntries(has(credentials).map((name) => [name, credentials[name]?.reveal()]));

/** What may be shown of any profile. */
export const entryOf = (
  { credentials, ...about }: Profile,
  keptIn: Kept["in"] = "sealed_file",
): ProfileEntry => ({ ...about, email: credentials.email, has: has(credentials), keptIn });

/** What `login` stored. */
export type Profiles = {
  read(name: string): Promise<Profile | undefined>;
  /** What is known of it without its secrets. */
  find(name: string): Promise<ProfileEntry | undefined>;
  /** Tells where its secrets went: into the keychain, if there is one that takes them. */
  write(profile: Profile): Promise<Kept>;
  remove(name: string): Promise<boolean>;
  list(): Promise<ProfileEntry[]>;
  /** Differs whenever what is stored under a name does; empty where there is nothing. */
  stamp(name: string): Promise<string>;
};

// A folder that is none holds no profile; what else it is good for is told by whoever needs it.
const unlessMissing = (error: unknown): undefined => {
  if (error instanceof Error && "code" in error && /^(ENOENT|ENOTDIR)$/.test(String(error.code))) {
    return undefined;
  }
  throw error;
};

const refused = (message: string): Problem => new Problem("invalid_request", message);

const closed =
  (name: string) =>
  (error: unknown): never => {
    if (!(error instanceof KeychainError)) throw error;
    throw refused(
      `The keychain does not give the key of the profile ${name} to this program: ${error.message}. Unlock it, or log in again; with RECEIVABLES_KEYCHAIN=off no keychain is needed.`,
    );
  };

/** Profiles sealed in a folder, a file each, so that several processes may use it without a lock. */
export const sealedProfiles = ({
  folder,
  masterKey,
  keychain,
}: {
  folder: string;
  masterKey: () => Promise<Buffer>;
  keychain: Keychain;
}): Profiles => {
  const locker = createLocker({ masterKey, keychain });
  const seal = async () => createSeal(await masterKey(), "profile");
  const pathOf = (name: string) => join(folder, name + SUFFIX);

  const find = async (name: string): Promise<Sealed | undefined> => {
    const path = pathOf(name);
    const text = await readFile(path, "utf8").catch(unlessMissing);
    if (text === undefined) return undefined;
    const { data } = Sealed.safeParse((await seal()).open(text));
    // A file under another's name is not what it says it is.
    if (data?.name === name) return data;
    throw refused(`${path} does not open with this master key: log in again.`);
  };

  const open = async (sealed: Sealed): Promise<Profile | undefined> => {
    const { email, has: _names, secrets, account, ...about } = sealed;
    const unlocked = await locker.unlock({ secrets, account }).catch(closed(about.name));
    const { data } = Secrets.safeParse(unlocked);
    return data && { ...about, credentials: credentialsOf({ ...data, email }) };
  };

  return {
    async read(name) {
      const sealed = await find(name);
      const profile = sealed && (await open(sealed));
      if (profile !== undefined || sealed === undefined) return profile;
      // Another process may have written it anew meanwhile, and taken the old key out of the keychain.
      const anew = await find(name);
      const second = anew && (await open(anew));
      if (second !== undefined || anew === undefined) return second;
      throw refused(`The keychain has no key for the profile ${name}: log in again.`);
    },
    async find(name) {
      const sealed = await find(name);
      return sealed && listed(sealed);
    },
    async write({ credentials, ...about }) {
      const before = await find(about.name).catch(() => undefined);
      const { why, ...locked } = await locker.lock(about.name, revealed(credentials));
      const { email } = credentials;
      const path = pathOf(about.name);
      try {
        const text = (await seal()).seal({ ...about, email, has: has(credentials), ...locked });
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFileAtomic(path, text, { mode: 0o600 });
      } catch (error) {
        await locker.forget(locked.account);
        throw error;
      }
      await locker.forget(before?.account);
      return locked.account === undefined ? { in: "sealed_file", path, why } : { in: "keychain" };
    },
    async remove(name) {
      const before = await find(name).catch(() => undefined);
      const removed = await unlink(pathOf(name)).then(() => true, unlessMissing);
      await locker.forget(before?.account);
      return removed === true;
    },
    async list() {
      const files = (await readdir(folder).catch(unlessMissing)) ?? [];
      const names = files.filter((file) => file.endsWith(SUFFIX)).toSorted();
      const all = await Promise.all(names.map((file) => find(file.slice(0, -SUFFIX.length))));
      return all.flatMap((sealed) => (sealed === undefined ? [] : [listed(sealed)]));
    },
    stamp: async (name) => (await readFile(pathOf(name), "utf8").catch(unlessMissing)) ?? "",
  };
};

const listed = ({ account, secrets: _secrets, ...entry }: Sealed): ProfileEntry => ({
  ...entry,
  keptIn: account === undefined ? "sealed_file" : "keychain",
});
