import { resolve } from "node:path";
import { Problem } from "../../contract/errors.ts";
import { openFiles } from "../../platform/files/open.ts";
import { createAuditKey, findSigner } from "../../platform/store/audit-key.ts";
import { inspectStore } from "../../platform/store/inspect.ts";
import { hasTenant } from "../../platform/store/queries/tenants.ts";
import { createBackup } from "../../platform/admin/backup/backup.ts";
import { NOT_IN_BACKUP, restoreBackup } from "../../platform/admin/backup/restore.ts";
import type { Config } from "../../config/config.ts";
import { getDataPaths, readExistingMasterKey } from "../../config/folder.ts";
import type { Io } from "./io.ts";
import { readStore } from "../compose/inspect-store.ts";

const checkEmbedded = ({ databaseUrl }: Config): void => {
  if (databaseUrl === undefined) return;
  throw new Problem(
    "invalid_request",
    "DATABASE_URL is set: back PostgreSQL up with its own tools, as docs/operations.md describes.",
  );
};

const openPlaces = async (config: Config, folder: string) => ({
  folder: resolve(folder),
  paths: getDataPaths(config.dataFolder),
  files: await openFiles(config.files),
});

/** Writes a backup of the embedded store, also while servers use it. */
export const backUp = async ({ config, version, print, notify }: Io, to: string): Promise<void> => {
  checkEmbedded(config);
  const state = await readStore(config, inspectStore);
  if (state === undefined || state.isEmpty) {
    throw new Problem("not_found", `${config.dataFolder} has no store yet.`);
  }
  const masterKey = await readExistingMasterKey(config);
  const key = createAuditKey(masterKey);
  if (!state.keyIds.every((id) => findSigner(key, id) !== undefined)) {
    throw new Problem("conflict", "The store is signed with another master key than this one.");
  }
  const made = await createBackup({
    ...(await openPlaces(config, to)),
    masterKey,
    program: version,
  });
  const { missing, ...shown } = made;
  print({ ...shown, missing: missing.length });
  notify(`Not in the backup: ${NOT_IN_BACKUP.join("; ")}. Keep the master key elsewhere.`);
  if (missing.length === 0) return;
  throw new Error(
    `The backup is complete, but the store itself lacks ${missing.length} files of its records, for instance ${missing[0]}.`,
  );
};

const hasTenants = async (config: Config): Promise<boolean> => {
  const state = await readStore(config, inspectStore);
  if (state === undefined || state.isEmpty) return false;
  return (await readStore(config, hasTenant)) ?? false;
};

const requireKey = (config: Config) =>
  readExistingMasterKey(config).catch(() => {
    const { masterKey } = getDataPaths(config.dataFolder);
    throw new Problem(
      "invalid_request",
      `A backup does not contain the master key. Set RECEIVABLES_SECRET_KEY or RECEIVABLES_SECRET_KEY_FILE, or put it in ${masterKey}.`,
    );
  });

/** Restores a backup into a data folder without tenants. */
export const restore = async ({ config, print, notify }: Io, from: string): Promise<void> => {
  checkEmbedded(config);
  const masterKey = await requireKey(config);
  const places = await openPlaces(config, from);
  const isTaken = await hasTenants(config);
  const restored = await restoreBackup({ ...places, masterKey, hasTenants: isTaken });
  print(restored);
  notify(`Not in the backup: ${NOT_IN_BACKUP.join("; ")}.`);
  if (restored.missing > 0) {
    notify(`${restored.missing} files were missing when the backup was made.`);
  }
};
