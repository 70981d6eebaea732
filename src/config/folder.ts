import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getCode } from "../kit/error.ts";
import { randomToken } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createLazy } from "../kit/lazily.ts";
import { createFileOnce } from "../kit/once.ts";
import { deriveMasterKey } from "../kit/master-key.ts";
import type { MasterKey } from "../kit/seal.ts";
import type { Config } from "./config.ts";
import { isOpenToOthers } from "./private-file.ts";

/** Paths of the files in the data folder. */
export const getDataPaths = (dataFolder: string) => ({
  database: join(dataFolder, "receivables.db"),
  oauth: join(dataFolder, "oauth.db"),
  masterKey: join(dataFolder, "secret.key"),
  demo: join(dataFolder, "demo.sealed"),
  secrets: join(dataFolder, "secrets"),
  profiles: join(dataFolder, "profiles"),
  httpTokens: join(dataFolder, "http-tokens"),
  replayGuard: join(dataFolder, "confirmations"),
});

const MIN_CHARACTERS = 32;

const readKey = async (path: string): Promise<string> =>
  readFile(path, "utf8").catch((error: unknown) => {
    if (getCode(error) === "ENOENT") return "";
    throw error;
  });

const openKeyFile = async (path: string): Promise<string> => {
  const known = await readKey(path);
  if (known !== "") return known;
  await createFileOnce(path, `${randomToken()}\n`);
  return readKey(path);
};

type KeySettings = Pick<Config, "secretKey" | "dataFolder"> &
  Partial<Pick<Config, "previousSecretKey">>;

const toKey = async (
  text: string,
  { previousSecretKey }: KeySettings,
  path: string,
): Promise<MasterKey> => {
  const key = text.trim();
  if (key.length < MIN_CHARACTERS) throw new Error(`${path} contains no master key`);
  return deriveMasterKey(key, previousSecretKey?.reveal().trim());
};

/**
 * Reads the master key of a store that already depends on it.
 *
 * @throws {Error} where neither the settings nor the data folder have one
 */
export const readExistingMasterKey = async (settings: KeySettings): Promise<MasterKey> => {
  const path = getDataPaths(settings.dataFolder).masterKey;
  const text = settings.secretKey?.reveal() ?? (await readKey(path));
  if (text !== "") return toKey(text, settings, path);
  throw new Error(
    "The master key is missing, and what is stored depends on it. Set RECEIVABLES_SECRET_KEY or" +
      ` RECEIVABLES_SECRET_KEY_FILE, or restore ${path}.`,
  );
};

/** Whether the settings or the data folder have a master key. */
export const hasMasterKey = async ({ secretKey, dataFolder }: KeySettings): Promise<boolean> =>
  secretKey !== undefined || (await readKey(getDataPaths(dataFolder).masterKey)) !== "";

/** Returns the path of the data folder's master key if it is used and other users may read it. */
export const findOpenKeyFile = ({ secretKey, dataFolder }: KeySettings): string | undefined => {
  const path = getDataPaths(dataFolder).masterKey;
  return secretKey === undefined && isOpenToOthers(path) ? path : undefined;
};

/** Warns where other users may read the master key. */
export const warnOfOpenKeyFile = (settings: KeySettings, log: Log): void => {
  const path = findOpenKeyFile(settings);
  if (path !== undefined) log.warn("master_key.open", { path, hint: `chmod 600 ${path}` });
};

/** Creates a reader of the master key: the configured one, else that of the data folder, which it creates if missing. */
export const createMasterKeyReader = (settings: KeySettings): (() => Promise<MasterKey>) =>
  createLazy(async () => {
    const path = getDataPaths(settings.dataFolder).masterKey;
    return toKey(settings.secretKey?.reveal() ?? (await openKeyFile(path)), settings, path);
  });
