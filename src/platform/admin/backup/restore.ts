import { createReadStream, existsSync } from "node:fs";
import { readFile, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Problem } from "../../../contract/errors.ts";
import { randomToken } from "../../../kit/ids.ts";
import { makeFolder } from "../../../kit/make-folder.ts";
import type { MasterKey } from "../../../kit/seal.ts";
import { readStoreId, STORE_ID_KEY } from "../../files/identity.ts";
import type { FileStore } from "../../files/port.ts";
import { listMigrationNames } from "../../store/migrations/migrate.ts";
import { isUnused } from "../../../kit/sqlite/driver/copy.ts";
import {
  copyFlushed,
  type DataPaths,
  type Entry,
  type Header,
  measureFile,
  readManifest,
} from "./manifest.ts";

export type RestoreNeeds = {
  /** The folder of the backup. */
  folder: string;
  paths: DataPaths;
  files: FileStore;
  masterKey: MasterKey;
  /** Whether the store of the data folder has a tenant. */
  hasTenants: boolean;
};

const FILES = "files/";

/** Parts that no backup has, so that operators know what to set up again. */
export const NOT_IN_BACKUP = [
  "the master key",
  "settings and files that they name, such as tokens of the MCP endpoint",
  "the log of tool calls",
  "counters of limits, and confirmations that were used",
] as const;

const refuse = (message: string): never => {
  throw new Problem("conflict", message);
};

const checkTarget = ({ paths, hasTenants }: RestoreNeeds): void => {
  const folder = dirname(paths.database);
  if (hasTenants) {
    refuse(`The store in ${folder} has tenants. Choose another data folder with --data.`);
  }
  for (const path of [paths.database, paths.oauth]) {
    if (existsSync(path) && !isUnused(path)) {
      refuse(`${path} is in use. Stop the programs that use ${folder}.`);
    }
  }
};

/** Refuses a file store that another database uses. */
const checkFileStore = async ({ folder, paths, files }: RestoreNeeds): Promise<void> => {
  const present = await readStoreId(files);
  if (present === undefined || existsSync(paths.database)) return;
  const own = await readFile(join(folder, FILES, STORE_ID_KEY), "utf8").catch(() => undefined);
  if (present === own) return;
  refuse("The file store of RECEIVABLES_FILES_URL is that of another database. Choose another.");
};

const checkSchema = ({ schema, program }: Header): void => {
  const known = listMigrationNames();
  const later = schema.filter((name) => !known.includes(name));
  if (later.length === 0) return;
  refuse(
    `The backup is of version ${program} and has steps of the schema that this version lacks: ${later.join(", ")}. Restore it with that version or a later one.`,
  );
};

/** Compares every file with the manifest, before anything is written. */
const checkEntries = async (folder: string, entries: readonly Entry[]): Promise<void> => {
  const faults: string[] = [];
  for (const { path, size, sha256 } of entries) {
    const found = await measureFile(join(folder, path)).catch(() => undefined);
    if (found === undefined) faults.push(`${path} is missing`);
    else if (found.size !== size || found.sha256 !== sha256) faults.push(`${path} was changed`);
  }
  if (faults.length === 0) return;
  const shown = faults.slice(0, 5).join("; ");
  refuse(`The backup has ${faults.length} damaged files: ${shown}.`);
};

/** The folder, within the data folder, of files that are not yet complete. */
const DRAFTS = "restoring";

const draftsOf = ({ paths }: RestoreNeeds): string => join(dirname(paths.database), DRAFTS);

/** Copies a file to its place; it appears there as a whole. */
const place = async (from: string, to: string, drafts: string): Promise<void> => {
  const draft = join(drafts, randomToken());
  await makeFolder(dirname(to));
  await makeFolder(drafts);
  try {
    await copyFlushed(from, draft);
    await rename(draft, to);
  } finally {
    await rm(draft, { force: true });
  }
};

const restoreEntry = async (needs: RestoreNeeds, { path, size }: Entry): Promise<void> => {
  const { folder, paths, files } = needs;
  const from = join(folder, path);
  if (path.startsWith(FILES)) {
    await files.put(path.slice(FILES.length), createReadStream(from), size);
    return;
  }
  await place(from, join(dirname(paths.database), path), draftsOf(needs));
};

/**
 * Restores a backup into a data folder without tenants. All of it is checked before anything is written; the database
 * comes last, so that an interrupted restore leaves no store, and can be run again.
 */
export const restoreBackup = async (needs: RestoreNeeds) => {
  const { folder, masterKey, paths } = needs;
  const { header, entries } = await readManifest(folder, masterKey);
  checkSchema(header);
  checkTarget(needs);
  await checkFileStore(needs);
  await checkEntries(folder, entries);
  const isDatabase = ({ path }: Entry): boolean => path === basename(paths.database);
  const inOrder = [
    ...entries.filter((entry) => !isDatabase(entry)),
    ...entries.filter((entry) => isDatabase(entry)),
  ];
  // A restore that was killed may have left drafts.
  await rm(draftsOf(needs), { recursive: true, force: true });
  try {
    for (const entry of inOrder) {
      // A program that was started meanwhile would continue to use the file that is replaced.
      if (isDatabase(entry)) checkTarget(needs);
      // One after the other, and the database last.
      await restoreEntry(needs, entry);
    }
  } finally {
    // Another restore may still have drafts in it.
    await rmdir(draftsOf(needs)).catch(() => {});
  }
  const { createdAt, program, tenants, missing } = header;
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  return { createdAt, program, tenants, files: entries.length, bytes, missing };
};
