import { mkdir, access as mayAccess, constants } from "node:fs/promises";
import { Problem } from "../../contract/errors.ts";
import { findNearest } from "../../kit/nearest.ts";
import { checkAddresses } from "../address-checks.ts";
import { type Check, createFault, createPass } from "../checks.ts";
import { type Config, settings } from "../config.ts";
import type { Io } from "../io.ts";
import { checkHttp } from "../http-checks.ts";
import { checkPlatform, listRefusedTools } from "../platform-checks.ts";
import { openStoredProfiles, withProfile, readProfilesFile } from "../profile.ts";

const toMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const NAMES = settings.map(({ name }) => name.split(",")[0] ?? "");

const checkSettings = ({ unused }: Config): Check => {
  if (unused.length === 0)
    return createPass("settings", "every RECEIVABLES_… variable is a setting");
  const hints = unused.map((name) => {
    const [near] = findNearest(name, NAMES);
    return near === undefined ? `${name} is not known` : `${name} is not known: ${near}?`;
  });
  return createFault("settings", `${unused.length} unknown`, hints.join("; "));
};

const checkFolder = async ({ dataFolder }: Config): Promise<Check> => {
  try {
    await mkdir(dataFolder, { recursive: true, mode: 0o700 });
    await mayAccess(dataFolder, constants.R_OK | constants.W_OK);
    return createPass("data_folder", dataFolder);
  } catch (error) {
    const hint =
      "Choose another with RECEIVABLES_DATA, or give this user the right to write there.";
    return createFault("data_folder", toMessage(error), hint);
  }
};

const STORED_IN = {
  keychain: "its secrets are in the keychain",
  sealed_file: "its secrets are in a sealed file of the data folder",
};

/** Returns the settings merged with their profile, and the place of the profile. */
const checkProfile = async (config: Config): Promise<{ config: Config; check: Check }> => {
  const { profile: name } = config;
  try {
    const whole = await withProfile(config);
    if (whole === config)
      return { config, check: createPass("profile", "none: the settings say all") };
    const written = readProfilesFile(config).some((one) => one.name === name);
    const stored = written ? undefined : await openStoredProfiles(config).find(name);
    const where = stored === undefined ? "it is in the profiles file" : STORED_IN[stored.keptIn];
    return { config: whole, check: createPass("profile", `${name}: ${where}`) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const hint = "Log in again, or choose a profile that is there with RECEIVABLES_PROFILE.";
    return { config, check: createFault("profile", error.message, hint) };
  }
};

const MAY_FAIL = ["settings", "clock"];

/** Checks each step from the settings to the records, and prints a hint for each fault. */
export const runDoctor = async ({ config: given, print, tell }: Io): Promise<void> => {
  const { config, check: profile } = await checkProfile(given);
  const before = [checkSettings(config), await checkFolder(config), profile];
  const checks = [...before, ...(profile.ok ? await checkAddresses(config) : [])];
  const reachable = checks.every(({ check, ok }) => ok || MAY_FAIL.includes(check));
  const { checks: more, rights } = reachable
    ? await checkPlatform(config)
    : { checks: [], rights: [] };
  const all = [...checks, ...more, ...(await checkHttp(given))];
  for (const { check, ok, found, hint } of all) {
    tell(`${ok ? "ok   " : "FAULT"} ${check.padEnd(14)} ${found}`);
    if (hint !== undefined) tell(`      ${"".padEnd(14)} ${hint}`);
  }
  const faults = all.filter(({ ok }) => !ok).length;
  print({ ok: faults === 0, checks: all, refusedTools: listRefusedTools(config, rights) });
  if (faults > 0) throw new Error(`${faults} of ${all.length} checks found a fault.`);
};
