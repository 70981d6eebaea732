import { describeProfile, type ProfileEntry } from "../../broker/profiles.ts";
import type { Io } from "./io.ts";
import { openStoredProfiles, readProfilesFile } from "../compose/profile.ts";

const describeCredential = ({ has }: ProfileEntry): string => {
  if (has.includes("apiKey")) return "api_key";
  return has.includes("password") ? "password" : "none";
};

/** Returns a profile without its secrets. */
export const toOutput = (entry: ProfileEntry) => ({
  profile: entry.name,
  baseUrl: entry.baseUrl ?? null,
  extBaseUrl: entry.extBaseUrl ?? entry.baseUrl ?? null,
  tenantId: entry.tenantId ?? null,
  headerWord: entry.headerWord ?? null,
  email: entry.email ?? null,
  credential: describeCredential(entry),
  keyId: entry.keyId ?? null,
  extApiKey: entry.has.includes("extApiKey"),
  keptIn: entry.keptIn,
});

/** Prints every profile, from the file and from `login`, one per line. */
export const listProfiles = async ({ config, print, notify }: Io): Promise<void> => {
  const written = readProfilesFile(config);
  const names = new Set(written.map(({ name }) => name));
  const stored = await openStoredProfiles(config).list();
  for (const profile of written) {
    print({ ...toOutput(describeProfile(profile)), keptIn: "profiles_file", from: "file" });
  }
  for (const entry of stored.filter(({ name }) => !names.has(name))) {
    print({ ...toOutput(entry), from: "login" });
  }
  if (written.length + stored.length === 0) {
    notify(
      'There is no profile yet: "login" makes one, or RECEIVABLES_PROFILES_FILE names a file.',
    );
  }
};
