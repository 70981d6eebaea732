import { readdir, rm, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Problem } from "../../contract/errors.ts";
import { getCode } from "../../kit/error.ts";
import { isUnused } from "../../kit/sqlite/driver/copy.ts";
import { getDataPaths } from "../../config/folder.ts";
import type { Io } from "./io.ts";
import { openStoredProfiles } from "../compose/profile.ts";

/** The names in a data folder that this program makes: databases with their companions, and files. */
const OWN =
  /^((receivables|oauth)\.db([-.].*)?|secret\.key|demo\.sealed|secrets|profiles|http-tokens|confirmations|files|restoring|audit\.ndjson([-.].*)?)$/;

const refuse = (message: string): never => {
  throw new Problem("invalid_request", message);
};

const listNames = async (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (getCode(error) === "ENOENT") return [];
    throw error;
  });

/** Removes the stored profiles and their keys in the keychain. @throws {Problem} if a key is valid at a platform */
const removeProfiles = async ({ config }: Io): Promise<void> => {
  const profiles = openStoredProfiles(config);
  const entries = await profiles.list();
  const names = entries.flatMap(({ name, keyId }) => (keyId === undefined ? [] : [name]));
  if (names.length > 0) {
    refuse(
      `Profiles have API keys at their platforms: ${names.join(", ")}. Run \`logout --profile NAME\` for each first; it also works if the platform is gone.`,
    );
  }
  await Promise.all(entries.map(({ name }) => profiles.remove(name)));
};

/** Checks that the folder is a data folder, that the person named it, and that no program uses it. @throws {Problem} */
const checkFolder = (folder: string, names: readonly string[], confirm: string | undefined) => {
  const paths = getDataPaths(folder);
  if (!names.includes("receivables.db") && !names.includes("secret.key")) {
    refuse(`${folder} is no data folder. Check --data or RECEIVABLES_DATA.`);
  }
  if (confirm === undefined || resolve(confirm) !== resolve(folder)) {
    refuse(
      `This removes all tenants, files and keys in ${folder}. Repeat it with --confirm ${folder}`,
    );
  }
  for (const [name, path] of [
    ["receivables.db", paths.database],
    ["oauth.db", paths.oauth],
  ] as const) {
    if (names.includes(name) && !isUnused(path)) {
      refuse(`${path} is in use. Stop the programs that use ${folder}.`);
    }
  }
};

/** Removes everything that this program stored on this machine. Other files of the folder stay, and are named. */
export const removeData = async (io: Io, { confirm }: { confirm?: string }): Promise<void> => {
  const { dataFolder: folder } = io.config;
  const names = await listNames(folder);
  checkFolder(folder, names, confirm ?? (await io.ask?.line(`Type ${folder} to remove it`)));
  await removeProfiles(io);
  const own = names.filter((name) => OWN.test(name));
  for (const name of own) await rm(join(folder, name), { recursive: true, force: true });
  const left = await listNames(folder);
  if (left.length === 0) await rmdir(folder);
  io.print({ folder, removed: own.length, left });
};
