import { Problem } from "../../contract/errors.ts";
import { checkAddresses } from "../doctor/address-checks.ts";
import { type Check, createFault, createPass } from "../doctor/checks.ts";
import type { Config } from "../../config/config.ts";
import { checkExportKeys } from "../doctor/export-key-checks.ts";
import type { Io } from "./io.ts";
import { checkNetwork } from "../doctor/network-checks.ts";
import { checkHttp } from "../doctor/http-checks.ts";
import { checkPlatform, listRefusedTools } from "../doctor/platform-checks.ts";
import {
  checkFolder,
  checkKeyFile,
  checkPublicUrl,
  checkSealedFiles,
  checkSharedDatabase,
  checkStore,
} from "../doctor/store-checks.ts";
import { describeUnknownSetting } from "../../config/unknown-settings.ts";
import { openStoredProfiles, withProfile, readProfilesFile } from "../compose/profile.ts";

const checkSettings = ({ unused }: Config): Check => {
  if (unused.length === 0)
    return createPass("settings", "every RECEIVABLES_… variable is a setting");
  const hint = unused.map(describeUnknownSetting).join(" ");
  return createFault("settings", `${unused.length} unknown`, hint);
};

const STORED_IN = {
  keychain: "its secrets are in the keychain",
  sealed_file: "its secrets are in a sealed file of the data folder",
};

const FOLDER_HINT =
  "Choose another data folder with RECEIVABLES_DATA, or let this user write there.";

/** Returns the settings merged with their profile, and the place of the profile. */
const checkProfile = async (config: Config): Promise<{ config: Config; check: Check }> => {
  const { profile: name } = config;
  try {
    const whole = await withProfile(config);
    if (whole === config)
      return { config, check: createPass("profile", "none: the settings suffice") };
    const written = readProfilesFile(config).some((one) => one.name === name);
    const stored = written ? undefined : await openStoredProfiles(config).find(name);
    const where = stored === undefined ? "it is in the profiles file" : STORED_IN[stored.keptIn];
    return { config: whole, check: createPass("profile", `${name}: ${where}`) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const hint =
      error instanceof Problem
        ? "Log in again, or choose an existing profile with RECEIVABLES_PROFILE."
        : FOLDER_HINT;
    return { config, check: createFault("profile", error.message, hint) };
  }
};

const MAY_FAIL = ["settings", "authorities", "clock", "public_url", "key_file"];

/** Lines for people: each check, and a hint where there is one. */
const formatChecks = (checks: readonly Check[]): string[] => {
  const width = Math.max(...checks.map(({ check }) => check.length));
  return checks.flatMap(({ check, ok, found, hint }) => [
    `${ok ? "ok   " : "FAULT"} ${check.padEnd(width)} ${found}`,
    ...(hint === undefined ? [] : [`      ${"".padEnd(width)} ${hint}`]),
  ]);
};

const NOTHING: Awaited<ReturnType<typeof checkPlatform>> = { checks: [], rights: [] };

/** Runs all checks. They change nothing: neither the data folder nor the store nor the platform's records. */
const runChecks = async (given: Config) => {
  const { config, check: profile } = await checkProfile(given);
  const folder = await checkFolder("data_folder", config.dataFolder, FOLDER_HINT);
  const checks = [
    checkSettings(config),
    folder,
    profile,
    ...checkNetwork(config),
    ...checkPublicUrl(config),
    ...(profile.ok ? await checkAddresses(config) : []),
  ];
  if (folder.ok) checks.push(...checkKeyFile(given), ...(await checkSealedFiles(given)));
  const isRemote = config.remote !== undefined;
  const hasStorePlace = folder.ok || config.databaseUrl !== undefined;
  if (isRemote) checks.push(...(await checkSharedDatabase(config)));
  else if (profile.ok && hasStorePlace) checks.push(...(await checkStore(config)));
  const reachable = checks.every(({ check, ok }) => ok || MAY_FAIL.includes(check));
  // An embedded platform would create its store and its demo tenant at the first request.
  const { checks: more, rights } = isRemote && reachable ? await checkPlatform(config) : NOTHING;
  const keys = reachable ? await checkExportKeys(config) : [];
  const all = [...checks, ...more, ...(await checkHttp(given)), ...keys];
  return { checks: all, refusedTools: listRefusedTools(config, rights) };
};

/**
 * Checks each step from the settings to the records, with a hint for each fault: lines for people on stderr, and JSON
 * on stdout unless that is a terminal.
 */
export const runDoctor = async (
  { config, print, notify, isTerminal }: Io,
  { json = false }: { json?: boolean },
): Promise<void> => {
  const { checks, refusedTools } = await runChecks(config);
  const faults = checks.filter(({ ok }) => !ok).length;
  if (!json) for (const line of formatChecks(checks)) notify(line);
  if (json || !isTerminal) print({ ok: faults === 0, checks, refusedTools });
  if (faults > 0) throw new Error(`${faults} of ${checks.length} checks found a fault.`);
};
