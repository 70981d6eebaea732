import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { replacePrivateFile } from "./replace-file.ts";
import type { Seal } from "./seal.ts";
import type { Renewal } from "./sealed-column.ts";

const SUFFIX = ".sealed";

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ENOENT|ENOTDIR)$/.test(String(error.code));

/** Lists the paths of a folder's sealed files; none where the folder is missing. */
export const listSealedFiles = async (folder: string): Promise<string[]> => {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith(SUFFIX))
      .toSorted()
      .map((name) => join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Seals again the files that a former key sealed; a missing file is skipped. */
export const renewFiles = async (
  paths: readonly string[],
  { renew, open }: Pick<Seal, "renew" | "open">,
): Promise<Renewal> => {
  const result: Renewal = { renewed: 0, unreadable: 0 };
  for (const path of paths) {
    // oxlint-disable-next-line no-await-in-loop -- few files
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (text === undefined) continue;
    const renewed = renew(text);
    if (renewed !== undefined) {
      replacePrivateFile(path, renewed);
      result.renewed += 1;
    } else if (open(text) === undefined) result.unreadable += 1;
  }
  return result;
};
