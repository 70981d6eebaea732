import { createWriteStream, existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pMap from "p-map";
import { Problem } from "../../../contract/errors.ts";
import { formatTimestamp, systemClock } from "../../../kit/clock.ts";
import { makeFolder } from "../../../kit/make-folder.ts";
import { createFileOnce } from "../../../kit/once.ts";
import type { MasterKey } from "../../../kit/seal.ts";
import { listSealedFiles } from "../../../kit/sealed-files.ts";
import { readStoreId, STORE_ID_KEY } from "../../files/identity.ts";
import type { FileStore } from "../../files/port.ts";
import { readContent, type StoreContent } from "../../store/queries/content.ts";
import { inspectSqlite } from "../../store/sqlite/inspect.ts";
import { copyDatabase } from "../../../kit/sqlite/driver/copy.ts";
import { copyFlushed, type DataPaths, type Entry, measureFile, writeManifest } from "./manifest.ts";

/** Number of times that the database is copied again because files that it refers to were deleted meanwhile. */
const MAX_COPIES = 20;
const COPIED_AT_ONCE = 8;

export type BackupNeeds = {
  /** The folder to write; empty or missing. */
  folder: string;
  paths: DataPaths;
  files: FileStore;
  masterKey: MasterKey;
  program: string;
};

/** Copies one file of the file store; returns undefined if it does not exist any more. */
const copyStored = async (
  { folder, files }: BackupNeeds,
  key: string,
): Promise<Entry | undefined> => {
  const file = await files.open(key);
  if (file === undefined) return undefined;
  const path = `files/${key}`;
  const place = join(folder, path);
  await makeFolder(dirname(place));
  await pipeline(
    Readable.fromWeb(file.bytes),
    createWriteStream(place, { mode: 0o600, flush: true }),
  );
  return { path, ...(await measureFile(place)) };
};

const readCopy = async (path: string): Promise<StoreContent> => {
  const content = await inspectSqlite(path, readContent);
  if (content === undefined) throw new Error(`${path} is gone`);
  return content;
};

type Copied = { content: StoreContent; entries: Map<string, Entry>; missing: string[] };

/**
 * Copies the database, then the files that the copy refers to. Files never change, but a file whose record was deleted
 * since is gone: then the database is copied again. A file that two copies of the database lack is missing in the store.
 */
const copyStore = async (needs: BackupNeeds): Promise<Copied> => {
  const { folder, paths } = needs;
  const database = join(folder, basename(paths.database));
  const entries = new Map<string, Entry>();
  let lacked = new Set<string>();
  for (let made = 0; made < MAX_COPIES; made += 1) {
    await rm(database, { force: true });
    await copyDatabase(paths.database, database);
    const content = await readCopy(database);
    if ((await readStoreId(needs.files)) !== undefined) content.fileKeys.push(STORE_ID_KEY);
    const missing: string[] = [];
    const copy = async (key: string): Promise<void> => {
      const entry = entries.get(key) ?? (await copyStored(needs, key));
      if (entry === undefined) missing.push(key);
      else entries.set(key, entry);
    };
    // Clients delete files meanwhile. Copied one by one, the last ones could be gone each time.
    await pMap(new Set(content.fileKeys), copy, { concurrency: COPIED_AT_ONCE });
    if (missing.every((key) => lacked.has(key))) return { content, entries, missing };
    lacked = new Set(missing);
  }
  throw new Error("Files are deleted faster than they are copied. Try again at a calmer time.");
};

/** Removes copies of files whose records were deleted before the last copy of the database. */
const dropUnused = async (folder: string, { content, entries }: Copied): Promise<Entry[]> => {
  const used = new Set(content.fileKeys);
  const unused = [...entries.keys()].filter((key) => !used.has(key));
  await Promise.all(unused.map((key) => rm(join(folder, "files", key))));
  return [...entries].flatMap(([key, entry]) => (used.has(key) ? [entry] : []));
};

/** Copies the sealed files of the data folder; those that are removed meanwhile are left out. */
const copySealed = async ({ folder, paths }: BackupNeeds): Promise<string[]> => {
  const names: string[] = [];
  const copy = async (from: string, path: string): Promise<void> => {
    if (!existsSync(from)) return;
    const place = join(folder, path);
    await makeFolder(dirname(place));
    await copyFlushed(from, place);
    names.push(path);
  };
  await copy(paths.demo, basename(paths.demo));
  for (const from of [paths.secrets, paths.profiles]) {
    for (const file of await listSealedFiles(from)) {
      await copy(file, `${basename(from)}/${basename(file)}`);
    }
  }
  return names;
};

const measure = async (folder: string, path: string): Promise<Entry> => ({
  path,
  ...(await measureFile(join(folder, path))),
});

const fill = async (needs: BackupNeeds) => {
  const { folder, paths, masterKey, program } = needs;
  const copied = await copyStore(needs);
  const others = [basename(paths.database)];
  if (existsSync(paths.oauth)) {
    others.push(basename(paths.oauth));
    await copyDatabase(paths.oauth, join(folder, basename(paths.oauth)));
  }
  others.push(...(await copySealed(needs)));
  const entries = await dropUnused(folder, copied);
  for (const path of others) {
    entries.push(await measure(folder, path));
  }
  const { schema, tenants } = copied.content;
  const missing = copied.missing.length;
  const createdAt = formatTimestamp(systemClock());
  const header = { program, createdAt, schema, tenants, missing };
  const totals = await writeManifest(folder, header, entries, masterKey);
  return { folder, createdAt, tenants, ...totals, missing: copied.missing };
};

/** Creates the folder, or checks that it is empty. Of two backups that start together, one creates the database's file. */
const prepareFolder = async ({ folder, paths }: BackupNeeds): Promise<void> => {
  await makeFolder(folder);
  const isEmpty = (await readdir(folder)).length === 0;
  if (isEmpty && (await createFileOnce(join(folder, basename(paths.database)), ""))) return;
  throw new Problem("invalid_request", `${folder} is not empty. Name a folder that is.`);
};

/**
 * Writes a backup of the embedded store while it is in use. The manifest is written last, so that an interrupted backup
 * is none.
 */
export const createBackup = async (needs: BackupNeeds) => {
  const { folder } = needs;
  await prepareFolder(needs);
  try {
    return await fill(needs);
  } catch (error) {
    for (const name of await readdir(folder)) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
    throw error;
  }
};
