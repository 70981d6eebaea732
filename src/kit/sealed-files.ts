import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { getCode } from "./error.ts";
import { replacePrivateFile } from "./replace-file.ts";
import type { Seal } from "./seal.ts";
import type { Renewal } from "./sealed-column.ts";

const SUFFIX = ".sealed";

// A missing folder, or a file in its place, contains no sealed file.
const ignoreMissing = (error: unknown): undefined => {
  if (["ENOENT", "ENOTDIR"].includes(getCode(error) ?? "")) return undefined;
  throw error;
};

export const sealedPath = (folder: string, name: string): string => join(folder, name + SUFFIX);

/** Lists the names of a folder's sealed files in order; none where the folder is missing. */
export const listSealedNames = async (folder: string): Promise<string[]> => {
  const files = (await readdir(folder).catch(ignoreMissing)) ?? [];
  return files
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .toSorted();
};

/** Lists the paths of these files. */
export const listSealedFiles = async (folder: string): Promise<string[]> =>
  (await listSealedNames(folder)).map((name) => sealedPath(folder, name));

const readIfExists = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch(ignoreMissing);

/** Returns the sealed text; undefined for a missing file. */
export const readSealedFile = (folder: string, name: string): Promise<string | undefined> =>
  readIfExists(sealedPath(folder, name));

/** Returns false for a missing file. */
export const removeSealedFile = async (folder: string, name: string): Promise<boolean> =>
  (await unlink(sealedPath(folder, name)).then(() => true, ignoreMissing)) === true;

/** Whether a key opens one of the files. */
export const fitsFiles = async (
  paths: readonly string[],
  { open }: Pick<Seal, "open">,
): Promise<boolean> => {
  for (const path of paths) {
    // One after the other, since the first one fits most often.
    const text = await readIfExists(path);
    if (text !== undefined && open(text) !== undefined) return true;
  }
  return false;
};

/** Seals again the files that a former key sealed; a missing file is skipped. */
export const renewFiles = async (
  paths: readonly string[],
  { renew, open }: Pick<Seal, "renew" | "open">,
): Promise<Renewal> => {
  const result: Renewal = { renewed: 0, unreadable: 0 };
  for (const path of paths) {
    const text = await readIfExists(path);
    if (text === undefined) continue;
    const renewed = renew(text);
    if (renewed !== undefined) {
      replacePrivateFile(path, renewed);
      result.renewed += 1;
    } else if (open(text) === undefined) result.unreadable += 1;
  }
  return result;
};
