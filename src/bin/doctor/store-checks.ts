import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { getMessage, getCode } from "../../kit/error.ts";
import { createAuditKey, findSigner } from "../../platform/store/audit-key.ts";
import { inspectStore, type StoreState } from "../../platform/store/inspect.ts";
import { checkClock } from "./address-checks.ts";
import { type Check, createFault, createPass } from "./checks.ts";
import type { Config } from "../../config/config.ts";
import { findOpenKeyFile, getDataPaths, readExistingMasterKey } from "../../config/folder.ts";
import {
  describeDifference,
  OTHER_STORE_HINT,
  readStoreId,
} from "../../platform/files/identity.ts";
import { readStore, requireStoreKey } from "../compose/inspect-store.ts";
import { findSealedFolders } from "../compose/sealed-folders.ts";
import { formatLocation } from "../../platform/files/location.ts";
import { openFiles } from "../../platform/files/open.ts";

/** Checks that a folder can be written, or created in the closest folder that exists. Creates nothing. */
export const checkFolder = async (check: string, folder: string, hint: string): Promise<Check> => {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await access(path, constants.R_OK | constants.W_OK);
      if (!(await stat(path)).isDirectory()) {
        return createFault(check, `${path} is not a folder`, hint);
      }
      return createPass(check, path === folder ? folder : `${folder}, created at the first start`);
    } catch (error) {
      if (getCode(error) !== "ENOENT" || path === dirname(path)) {
        return createFault(check, getMessage(error), hint);
      }
    }
  }
};

const describeStore = (name: string, state: StoreState | undefined): Check => {
  if (state === undefined || state.isEmpty) {
    return createPass("store", `${name} is empty, its tables are created at the first start`);
  }
  const { missing, later } = state;
  if (later.length > 0) {
    const found = `${name} has steps of a later version: ${later.join(", ")}`;
    return createFault("store", found, "Run the version that the store's other nodes run.");
  }
  if (missing.length === 0) return createPass("store", `${name} is up to date`);
  return createPass("store", `${name} gets ${missing.join(", ")} at the next start`);
};

/** Returns a fault where tables are missing that the user may not create. */
const findTablesFault = async (
  config: Config,
  state: StoreState | undefined,
): Promise<Check | undefined> => {
  const isComplete = state !== undefined && state.missing.length === 0;
  if (config.databaseUrl === undefined || isComplete) return undefined;
  const { mayCreateTables, NO_TABLES } = await import("../../kit/postgres/lock.ts");
  if ((await readStore(config, mayCreateTables)) !== false) return undefined;
  return createFault("store", NO_TABLES, "Run: alter database NAME owner to USER");
};

const SEALED_HINT =
  "Set RECEIVABLES_SECRET_KEY, or secret.key in the data folder, to the key that sealed them. If it is lost, move them away, and log in again.";
const KEY_HINT =
  "Set RECEIVABLES_SECRET_KEY, or secret.key in the data folder, to the key that the store's other nodes use.";

/** Checks the master key against the secrets and profiles in the data folder; nothing where there are none. */
export const checkSealedFiles = async (config: Config): Promise<Check[]> => {
  try {
    const { present, foreign } = await findSealedFolders(config);
    if (present.length === 0) return [];
    if (foreign.length === 0) {
      return [createPass("sealed_files", `the master key opens files of ${present.join(", ")}`)];
    }
    const found = `the master key opens no file of ${foreign.join(", ")}`;
    return [createFault("sealed_files", found, SEALED_HINT)];
  } catch (error) {
    return [createFault("sealed_files", getMessage(error), SEALED_HINT)];
  }
};

/** Returns a fault where other users may read the master key in the data folder. */
export const checkKeyFile = (config: Config): Check[] => {
  const path = findOpenKeyFile(config);
  if (path === undefined) return [];
  return [createFault("key_file", `others may read ${path}`, `Run: chmod 600 ${path}`)];
};

const checkMasterKey = async (config: Config, keyIds: readonly string[]): Promise<Check> => {
  try {
    const key = createAuditKey(await readExistingMasterKey(config));
    if (keyIds.length === 0) return createPass("master_key", "the store does not depend on it yet");
    if (!keyIds.every((id) => findSigner(key, id) !== undefined)) {
      return createFault("master_key", "the store is signed with another master key", KEY_HINT);
    }
    return keyIds.every((id) => id === key.id)
      ? createPass("master_key", "it is the one that the store is signed with")
      : createPass("master_key", "a rotation is not finished", "Run: admin secrets rotate");
  } catch (error) {
    if (keyIds.length > 0) return createFault("master_key", getMessage(error), KEY_HINT);
    return createPass("master_key", "none yet, it is created at the first start");
  }
};

const FILES = "file_store";

/** Checks that the file store can be read, and is the one that the database's files are in. */
const checkFiles = async (
  { files: location }: Config,
  state: StoreState | undefined,
): Promise<Check> => {
  const place = formatLocation(location);
  const hint = "Check the path and the rights to it. RECEIVABLES_FILES_URL chooses another folder.";
  const check =
    "folder" in location ? await checkFolder(FILES, place, hint) : createPass(FILES, place);
  const recorded = state?.fileStoreId;
  if (!check.ok) return check;
  try {
    const present = await readStoreId(await openFiles(location));
    const difference =
      recorded === undefined ? undefined : describeDifference(place, { recorded, present });
    return difference === undefined ? check : createFault(FILES, difference, OTHER_STORE_HINT);
  } catch (error) {
    const advice =
      "Check RECEIVABLES_FILES_URL, the credentials, and that the service can be reached.";
    return createFault(FILES, getMessage(error), advice);
  }
};

const DATABASE_HINT = "Check DATABASE_URL, and that the database runs and can be reached.";

/** Checks the database that MCP servers in front of a remote platform share. */
export const checkSharedDatabase = async (config: Config): Promise<Check[]> => {
  if (config.databaseUrl === undefined) return [];
  try {
    await requireStoreKey(config);
    return [createPass("shared_store", "DATABASE_URL can be used, with this master key")];
  } catch (error) {
    return [createFault("shared_store", getMessage(error), DATABASE_HINT)];
  }
};

/** Compares this machine's clock with that of PostgreSQL, which all nodes share. */
const checkDatabaseClock = async (config: Config): Promise<Check[]> => {
  if (config.databaseUrl === undefined) return [];
  const { readClock } = await import("../../platform/store/postgres/inspect.ts");
  const ahead = await readStore(config, async (db) => {
    const startedAt = systemClock();
    return (await readClock(db)) - (startedAt + systemClock()) / 2;
  });
  return ahead === undefined ? [] : [checkClock("the database", ahead)];
};

/** Checks store, master key and file store of the embedded platform, without a change to any of them. */
export const checkStore = async (config: Config): Promise<Check[]> => {
  const { databaseUrl, dataFolder } = config;
  const isRemote = databaseUrl !== undefined;
  const name = isRemote ? "DATABASE_URL" : getDataPaths(dataFolder).database;
  try {
    const state = await readStore(config, inspectStore);
    const key = await checkMasterKey(config, state?.keyIds ?? []);
    const store = (await findTablesFault(config, state)) ?? describeStore(name, state);
    const clock = await checkDatabaseClock(config);
    return [store, ...clock, key, await checkFiles(config, state)];
  } catch (error) {
    const advice = isRemote ? DATABASE_HINT : "Check the file and the rights to it.";
    return [createFault("store", getMessage(error), advice), await checkFiles(config, undefined)];
  }
};

/** Checks that a server behind a proxy learns the addresses of its clients. */
export const checkPublicUrl = ({ publicUrl, trustedProxies }: Config): Check[] => {
  if (publicUrl === undefined && trustedProxies.length === 0) return [];
  if (publicUrl === undefined) {
    const found = "RECEIVABLES_TRUSTED_PROXIES is set, RECEIVABLES_PUBLIC_URL is not";
    const hint = "Set it to the address that clients use; links have the Host of the request now.";
    return [createPass("public_url", found, hint)];
  }
  if (trustedProxies.length > 0) {
    return [createPass("public_url", `${publicUrl}, behind ${trustedProxies.join(", ")}`)];
  }
  const found = `${publicUrl}, but no proxy is trusted`;
  const hint =
    "Set RECEIVABLES_TRUSTED_PROXIES to the proxy's network: all clients have its address now, and share its limits.";
  return [createFault("public_url", found, hint)];
};
