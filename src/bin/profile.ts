import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Credentials } from "../broker/credentials.ts";
import { type Keychain, createKeychainProcess, createMissingKeychain } from "../broker/keychain.ts";
import { type Profile, type Profiles, createSealedProfiles } from "../broker/profiles.ts";
import { parseProfiles } from "../broker/profiles-file.ts";
import { Problem } from "../contract/errors.ts";
import { Secret } from "../kit/secret.ts";
import type { Config, Remote } from "./config.ts";
import { dataPaths, createMasterKeyReader } from "./folder.ts";
import { readPrivate } from "./private-file.ts";

// The built program has it beside itself, under the ending that it was built to.
const KEYCHAIN = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "keychain.ts" : "keychain.js", import.meta.url),
);

const createKeychain = ({ keychain }: Config): Keychain =>
  keychain === "off"
    ? createMissingKeychain("RECEIVABLES_KEYCHAIN is off")
    : createKeychainProcess({ command: process.execPath, args: [KEYCHAIN] });

export const openStoredProfiles = (config: Config): Profiles =>
  createSealedProfiles({
    folder: dataPaths(config.dataFolder).profiles,
    masterKey: createMasterKeyReader(config),
    keychain: createKeychain(config),
  });

/** What the profiles file has; it must be its owner's alone, since secrets may stand in it. */
export const readProfilesFile = ({ profilesFile: path }: Config): Profile[] => {
  if (path === undefined) return [];
  try {
    return parseProfiles(readPrivate(path), (file) => readFileSync(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Problem("invalid_request", `RECEIVABLES_PROFILES_FILE ${path}: ${why}`, {}, error);
  }
};

const isSet = ([, value]: [string, unknown]): boolean => value !== undefined;

const mergeCredentials = (given: Credentials, stored: Credentials): Credentials =>
  Object.fromEntries([...Object.entries(stored), ...Object.entries(given).filter(isSet)]);

/** Where a profile's platform is; undefined for the embedded one. */
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

/** Whether somebody can act by a profile: the configured one needs no more than settings. */
export const isProfile = async (config: Config, name: string): Promise<boolean> =>
  name === config.profile ||
  readProfilesFile(config).some((one) => one.name === name) ||
  (await openStoredProfiles(config).find(name)) !== undefined;

/** Differs whenever a profile does: another credential, another tenant, another platform. */
export const readProfileStamp = async (config: Config, name: string): Promise<string> => {
  const written = readProfilesFile(config).find((one) => one.name === name);
  if (written === undefined) return openStoredProfiles(config).stamp(name);
  const { credentials, ...about } = written;
  const said = Object.values(credentials).map((one) =>
    one instanceof Secret ? one.reveal() : one,
  );
  return createHash("sha256")
    .update(JSON.stringify([about, said]))
    .digest("base64url");
};

/** The settings with what their profile adds. What the environment says counts more. */
export const withProfile = async (config: Config): Promise<Config> => {
  const { profile: name, remote } = config;
  const profile = await findProfile(config, name);
  if (profile === undefined) {
    if (name === "default") return config;
    throw createUnknownProfile(name);
  }
  const own = toRemote(profile);
  // A profile's credentials are sent to its own addresses and nowhere else.
  if (remote !== undefined && (remote.gateway !== own?.gateway || remote.export !== own.export)) {
    if (name === "default") return config;
    throw new Problem(
      "invalid_request",
      `RECEIVABLES_BASE_URL names another platform than profile ${name}: unset one of them.`,
    );
  }
  return {
    ...config,
    remote: own,
    tenantId: config.tenantId ?? profile.tenantId,
    credentials: mergeCredentials(config.credentials, profile.credentials),
  };
};

/**
 * The settings of somebody who acts by a profile. Credentials, tenant and address in the environment are the configured
 * profile's own: nobody else acts with them.
 */
export const withOtherProfile = async (config: Config, name: string): Promise<Config> => {
  if (name === config.profile) return withProfile(config);
  if (!(await isProfile(config, name))) throw createUnknownProfile(name);
  return withProfile({
    ...config,
    profile: name,
    remote: undefined,
    tenantId: undefined,
    credentials: {},
  });
};
