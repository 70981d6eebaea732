import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createProfileOrigins, type Origins, SETTING_ORIGINS } from "../../broker/credentials.ts";
import type { Credentials } from "../../config/settings.ts";
import {
  type Keychain,
  createKeychainProcess,
  createMissingKeychain,
} from "../../broker/keychain.ts";
import {
  type Profile,
  type ProfileEntry,
  type Profiles,
  createSealedProfiles,
  describeProfile,
} from "../../broker/profiles.ts";
import { parseProfiles } from "../../broker/profiles-file.ts";
import { Problem } from "../../contract/errors.ts";
import { Secret } from "../../kit/secret.ts";
import type { Config, Remote } from "../../config/config.ts";
import { getDataPaths } from "../../config/folder.ts";
import { createCheckedKeyReader } from "./master-key.ts";
import { readSetFile } from "../../config/private-file.ts";

// In the built program the file is beside this one and ends in .js.
const KEYCHAIN = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../keychain.ts" : "keychain.js", import.meta.url),
);

const createKeychain = ({ keychain }: Config): Keychain =>
  keychain === "off"
    ? createMissingKeychain("RECEIVABLES_KEYCHAIN is off")
    : createKeychainProcess({ command: process.execPath, args: [KEYCHAIN] });

export const openStoredProfiles = (config: Config): Profiles =>
  createSealedProfiles({
    folder: getDataPaths(config.dataFolder).profiles,
    masterKey: createCheckedKeyReader(config),
    keychain: createKeychain(config),
  });

/** Reads the profiles file. It can contain secrets, so only its owner may be able to read it. */
export const readProfilesFile = ({ profilesFile: path }: Config): Profile[] => {
  if (path === undefined) return [];
  return readSetFile("RECEIVABLES_PROFILES_FILE", path, (text) =>
    parseProfiles(text, (file) => readFileSync(file, "utf8")),
  );
};

const isSet = ([, value]: [string, unknown]): boolean => value !== undefined;

const mergeCredentials = (given: Credentials, stored: Credentials): Credentials =>
  Object.fromEntries([...Object.entries(stored), ...Object.entries(given).filter(isSet)]);

/** Returns the origin of each credential: the settings if they have it, else the profile. */
const mergeOrigins = ({ credentials }: Config, { name }: Profile): Origins => {
  const own = createProfileOrigins(name);
  return {
    apiKey: credentials.apiKey === undefined ? own.apiKey : SETTING_ORIGINS.apiKey,
    extApiKey: credentials.extApiKey === undefined ? own.extApiKey : SETTING_ORIGINS.extApiKey,
    password: credentials.password === undefined ? own.password : SETTING_ORIGINS.password,
  };
};

/** Returns the addresses of a profile's platform; undefined for the embedded one. */
export const toRemote = ({
  baseUrl,
  extBaseUrl,
}: Pick<Profile, "baseUrl" | "extBaseUrl">): Remote | undefined =>
  baseUrl === undefined ? undefined : { gateway: baseUrl, export: extBaseUrl ?? baseUrl };

const createUnknownProfile = (name: string): Problem =>
  new Problem("not_found", `There is no profile ${name}; "profiles" names them.`);

const findProfile = async (config: Config, name: string): Promise<Profile | undefined> =>
  readProfilesFile(config).find((one) => one.name === name) ??
  (await openStoredProfiles(config).read(name));

/** Whether the profile exists. The configured profile needs no entry, because settings can define it. */
export const isProfile = async (config: Config, name: string): Promise<boolean> =>
  name === config.profile ||
  readProfilesFile(config).some((one) => one.name === name) ||
  (await openStoredProfiles(config).find(name)) !== undefined;

/** Returns a text that changes whenever the profile's credential, tenant or platform does. */
export const readProfileStamp = async (config: Config, name: string): Promise<string> => {
  const written = readProfilesFile(config).find((one) => one.name === name);
  if (written === undefined) return openStoredProfiles(config).stamp(name);
  const { credentials, ...about } = written;
  const texts = Object.values(credentials).map((one) =>
    one instanceof Secret ? one.reveal() : one,
  );
  return hash("sha256", JSON.stringify([about, texts]), "base64url");
};

/** Returns the profile if the settings use it, undefined if they do without one. @throws {Problem} */
const chooseProfile = <P extends Pick<Profile, "baseUrl" | "extBaseUrl">>(
  { profile: name, remote }: Config,
  profile: P | undefined,
): P | undefined => {
  if (profile === undefined) {
    if (name === "default") return undefined;
    throw createUnknownProfile(name);
  }
  const own = toRemote(profile);
  // A profile's credentials are sent to its own addresses only.
  if (remote !== undefined && (remote.gateway !== own?.gateway || remote.export !== own.export)) {
    if (name === "default") return undefined;
    throw new Problem(
      "invalid_request",
      `RECEIVABLES_BASE_URL names another platform than profile ${name}: unset one of them.`,
    );
  }
  return profile;
};

/** Returns the profile that `withProfile` would merge, without decrypting its secrets. */
export const findChosenEntry = async (config: Config): Promise<ProfileEntry | undefined> => {
  const { profile: name } = config;
  const written = readProfilesFile(config).find((one) => one.name === name);
  const entry =
    written === undefined ? await openStoredProfiles(config).find(name) : describeProfile(written);
  return chooseProfile(config, entry);
};

/** Returns all profiles, without decrypting secrets. */
export const listEntries = async (config: Config): Promise<ProfileEntry[]> => [
  ...readProfilesFile(config).map((profile) => describeProfile(profile)),
  ...(await openStoredProfiles(config).list()),
];

/** Settings merged with a profile; the origins of its credentials are for refusals. */
export type ProfiledConfig = Config & { origins?: Origins };

/** Returns the settings merged with their profile. Settings of the environment take precedence. */
export const withProfile = async (config: Config): Promise<ProfiledConfig> => {
  const profile = chooseProfile(config, await findProfile(config, config.profile));
  if (profile === undefined) return config;
  return {
    ...config,
    remote: toRemote(profile),
    tenantId: config.tenantId ?? profile.tenantId,
    headerWord: config.ownHeaderWord ?? profile.headerWord ?? config.headerWord,
    origins: mergeOrigins(config, profile),
    credentials: mergeCredentials(config.credentials, profile.credentials),
  };
};

/**
 * Returns the settings with another profile's values. Credentials, tenant and addresses in the environment belong to
 * the configured profile alone.
 */
export const withOtherProfile = async (config: Config, name: string): Promise<ProfiledConfig> => {
  if (name === config.profile) return withProfile(config);
  if (!(await isProfile(config, name))) throw createUnknownProfile(name);
  return withProfile({
    ...config,
    profile: name,
    remote: undefined,
    tenantId: undefined,
    ownHeaderWord: undefined,
    credentials: {},
  });
};
