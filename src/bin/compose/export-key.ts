import { existsSync } from "node:fs";
import type { ProfileEntry } from "../../broker/profiles.ts";
import type { Config } from "../../config/config.ts";
import { getDataPaths } from "../../config/folder.ts";
import { namesIn } from "../../kit/json.ts";

/** The kind of platform that calls reach, and the names of the credentials that they have. */
type Held = { isRemote: boolean; names: readonly string[] };

/** Without credentials, calls of the embedded platform use the demo tenant's, which have every key. */
const includesKey = ({ isRemote, names }: Held): boolean =>
  names.includes("extApiKey") ||
  (!isRemote && !names.includes("apiKey") && !names.includes("email"));

const heldBy = ({ baseUrl, has, email }: ProfileEntry): Held => ({
  isRemote: baseUrl !== undefined,
  names: [...has, ...(email === undefined ? [] : ["email"])],
});

const mayHaveProfiles = ({ profilesFile, dataFolder }: Config): boolean =>
  profilesFile !== undefined || existsSync(getDataPaths(dataFolder).profiles);

/** Finds out whether calls with the settings and their profile have a key. No secret is decrypted. */
const hasOwnKey = async (config: Config): Promise<boolean> => {
  const own = { isRemote: config.remote !== undefined, names: namesIn(config.credentials) };
  if (own.names.includes("extApiKey") || !mayHaveProfiles(config)) return includesKey(own);
  // Loaded only if there is a profile: hosts wait for the lists at their start.
  const { findChosenEntry } = await import("./profile.ts");
  const entry = await findChosenEntry(config);
  if (entry === undefined) return includesKey(own);
  const stored = heldBy(entry);
  return includesKey({ ...stored, names: [...stored.names, ...own.names] });
};

/** Finds out whether calls with any profile have a key. */
const hasKeyInProfile = async (config: Config): Promise<boolean> => {
  const { listEntries } = await import("./profile.ts");
  return (await listEntries(config)).some((entry) => includesKey(heldBy(entry)));
};

const hasAnyKey = async (config: Config, transport: "stdio" | "http"): Promise<boolean> => {
  if (transport === "stdio") return hasOwnKey(config);
  // People who sign in have keys of the gateway only, unless a file gives them their tenant's.
  if (config.http.auth === "builtin") return config.http.exportKeysFile !== undefined;
  return (await hasOwnKey(config)) || hasKeyInProfile(config);
};

/**
 * Returns the settings with the answer to whether any caller can have a key for the export and ingest services. A
 * profile that cannot be read counts as having one: the first call says what is wrong.
 */
export const withExportKey = async (
  config: Config,
  transport: "stdio" | "http",
): Promise<Config> => {
  const hasKey = await hasAnyKey(config, transport).catch(() => true);
  return { ...config, mcp: { ...config.mcp, lacksExportKey: !hasKey } };
};
