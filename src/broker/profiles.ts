import { z } from "zod";
import { Problem } from "../contract/errors.ts";
import { makeFolder } from "../kit/make-folder.ts";
import { replacePrivateFile } from "../kit/replace-file.ts";
import { createSeal, type Seal } from "../kit/seal.ts";
import { toSecret } from "../kit/secret.ts";
import type { Credentials } from "../config/settings.ts";
import { type Keychain, KeychainError } from "./keychain.ts";
import type { Renewal } from "../kit/sealed-column.ts";
import {
  listSealedFiles,
  listSealedNames,
  readSealedFile,
  removeSealedFile,
  renewFiles,
  sealedPath,
} from "../kit/sealed-files.ts";
import { createLocker, type Locker, PROFILE_SECRETS } from "./locker.ts";

/** A named platform, without credentials. */
type ProfileInfo = {
  name: string;
  /** Absent for the embedded platform. */
  baseUrl?: string | undefined;
  extBaseUrl?: string | undefined;
  tenantId?: string | undefined;
  /** The word in the platform's header names; absent for the default. */
  headerWord?: string | undefined;
  /** The `sub` claims of the people who use this profile with an external token issuer. */
  subjects?: readonly string[] | undefined;
  /** The id of the API key created by `login`, for revocation. */
  keyId?: string | undefined;
};

/** A named platform with credentials, which are sent only to its own addresses. */
export type Profile = ProfileInfo & { credentials: Credentials };

const SECRETS = ["apiKey", "extApiKey", "password"] as const;
type SecretName = (typeof SECRETS)[number];

/** The location of a profile's secrets; `why` gives the reason if the keychain did not take them. */
export type SecretLocation =
  | { in: "keychain" }
  | { in: "sealed_file"; path: string; why: string | undefined };

/** A profile without its secrets, for display. */
export type ProfileEntry = ProfileInfo & {
  email?: string | undefined;
  has: readonly SecretName[];
  keptIn: SecretLocation["in"];
};

const Sealed = z.object({
  name: z.string(),
  baseUrl: z.string().optional(),
  extBaseUrl: z.string().optional(),
  tenantId: z.string().optional(),
  headerWord: z.string().optional(),
  keyId: z.string().optional(),
  email: z.string().optional(),
  has: z.array(z.enum(SECRETS)),
  account: z.string().optional(),
  secrets: z.string(),
});
type Sealed = z.infer<typeof Sealed>;

const Secrets = z.partialRecord(z.enum(SECRETS), z.string());
type Secrets = z.infer<typeof Secrets>;

export const toCredentials = ({
  apiKey,
  extApiKey,
  email,
  password,
}: Secrets & { email?: string | undefined }): Credentials => ({
  apiKey: toSecret(apiKey),
  extApiKey: toSecret(extApiKey),
  email,
  password: toSecret(password),
});

const listSecrets = (credentials: Credentials): SecretName[] =>
  SECRETS.filter((name) => credentials[name] !== undefined);

const revealSecrets = (credentials: Credentials): Secrets =>
  Object.fromEntries(listSecrets(credentials).map((name) => [name, credentials[name]?.reveal()]));

/** Returns a profile without its secrets. */
export const describeProfile = (
  { credentials, ...about }: Profile,
  keptIn: SecretLocation["in"] = "sealed_file",
): ProfileEntry => ({ ...about, email: credentials.email, has: listSecrets(credentials), keptIn });

/** The store of profiles that `login` fills. */
export type Profiles = {
  read(name: string): Promise<Profile | undefined>;
  /** Reads a profile without decrypting its secrets. */
  find(name: string): Promise<ProfileEntry | undefined>;
  /** Stores a profile, its secrets in the keychain if possible, and returns where they are. */
  write(profile: Profile): Promise<SecretLocation>;
  remove(name: string): Promise<boolean>;
  list(): Promise<ProfileEntry[]>;
  /** Returns text that changes with the stored profile; empty if there is none. */
  stamp(name: string): Promise<string>;
};

const invalid = (message: string): Problem => new Problem("invalid_request", message);

const reportKeychain =
  (name: string) =>
  (error: unknown): never => {
    if (!(error instanceof KeychainError)) throw error;
    throw invalid(
      `The keychain does not give the key of the profile ${name} to this program: ${error.message}. Unlock it, or log in again; with RECEIVABLES_KEYCHAIN=off no keychain is needed.`,
    );
  };

/** The purpose for which profiles are sealed. */
export const PROFILE_PURPOSE = "profile";

type Context = {
  folder: string;
  masterKey: () => Promise<Buffer>;
  locker: Locker;
};

const openSeal = async ({ masterKey }: Context): Promise<Seal> =>
  createSeal(await masterKey(), PROFILE_PURPOSE);

const findSealed = async (context: Context, name: string): Promise<Sealed | undefined> => {
  const { folder } = context;
  const text = await readSealedFile(folder, name);
  if (text === undefined) return undefined;
  const { data } = Sealed.safeParse((await openSeal(context)).open(text));
  // A file that was renamed or copied from another profile is refused.
  if (data?.name === name) return data;
  throw invalid(`${sealedPath(folder, name)} does not open with this master key: log in again.`);
};

const unlockProfile = async ({ locker }: Context, sealed: Sealed): Promise<Profile | undefined> => {
  const { email, has: _names, secrets, account, ...about } = sealed;
  const unlocked = await locker.unlock({ secrets, account }).catch(reportKeychain(about.name));
  const { data } = Secrets.safeParse(unlocked);
  return data && { ...about, credentials: toCredentials({ ...data, email }) };
};

const readProfile = async (context: Context, name: string): Promise<Profile | undefined> => {
  const sealed = await findSealed(context, name);
  const profile = sealed && (await unlockProfile(context, sealed));
  if (profile !== undefined || sealed === undefined) return profile;
  // Another process may have replaced the profile, and its key in the keychain, between the two reads: read again.
  const replaced = await findSealed(context, name);
  const second = replaced && (await unlockProfile(context, replaced));
  if (second !== undefined || replaced === undefined) return second;
  throw invalid(`The keychain has no key for the profile ${name}: log in again.`);
};

const writeProfile = async (
  context: Context,
  { credentials, ...about }: Profile,
): Promise<SecretLocation> => {
  const { locker, folder } = context;
  const former = await findSealed(context, about.name).catch(() => undefined);
  const { why, ...locked } = await locker.lock(about.name, revealSecrets(credentials));
  const path = sealedPath(folder, about.name);
  try {
    const { seal } = await openSeal(context);
    const has = listSecrets(credentials);
    const text = seal({ ...about, email: credentials.email, has, ...locked });
    await makeFolder(folder);
    replacePrivateFile(path, text);
  } catch (error) {
    await locker.forget(locked.account);
    throw error;
  }
  await locker.forget(former?.account);
  return locked.account === undefined ? { in: "sealed_file", path, why } : { in: "keychain" };
};

const removeProfile = async (context: Context, name: string): Promise<boolean> => {
  const former = await findSealed(context, name).catch(() => undefined);
  const isRemoved = await removeSealedFile(context.folder, name);
  await context.locker.forget(former?.account);
  return isRemoved;
};

const listProfiles = async (context: Context): Promise<ProfileEntry[]> => {
  const names = await listSealedNames(context.folder);
  const all = await Promise.all(names.map((name) => findSealed(context, name)));
  return all.flatMap((sealed) => (sealed === undefined ? [] : [describeSealed(sealed)]));
};

/** Seals again the profiles that former master keys sealed. A keychain's keys do not depend on the master key. */
export const renewProfiles = async ({
  folder,
  masterKey,
}: Pick<Context, "folder" | "masterKey">): Promise<Renewal> => {
  const outer = createSeal(await masterKey(), PROFILE_PURPOSE);
  const inner = createSeal(await masterKey(), PROFILE_SECRETS);
  const renew = (text: string): string | undefined => {
    const isFormer = outer.renew(text) !== undefined;
    const { data } = Sealed.safeParse(isFormer ? outer.open(text) : undefined);
    if (data === undefined) return undefined;
    const secrets = inner.renew(data.secrets) ?? data.secrets;
    return outer.seal({ ...data, secrets });
  };
  return renewFiles(await listSealedFiles(folder), { renew, open: outer.open });
};

/** Creates a store of encrypted profiles, one file each, so that several processes can share a folder without a lock. */
export const createSealedProfiles = ({
  folder,
  masterKey,
  keychain,
}: {
  folder: string;
  masterKey: () => Promise<Buffer>;
  keychain: Keychain;
}): Profiles => {
  const context: Context = { folder, masterKey, locker: createLocker({ masterKey, keychain }) };
  return {
    read: (name) => readProfile(context, name),
    async find(name) {
      const sealed = await findSealed(context, name);
      return sealed && describeSealed(sealed);
    },
    write: (profile) => writeProfile(context, profile),
    remove: (name) => removeProfile(context, name),
    list: () => listProfiles(context),
    stamp: async (name) => (await readSealedFile(folder, name)) ?? "",
  };
};

const describeSealed = ({ account, secrets: _secrets, ...entry }: Sealed): ProfileEntry => ({
  ...entry,
  keptIn: account === undefined ? "sealed_file" : "keychain",
});
