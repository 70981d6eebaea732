import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { getCode } from "./error.ts";

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Makes one folder, unless it exists. */
const makeOne = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!(await isFolder(path))) throw error;
  }
};

/**
 * Makes a private folder (mode 0700) and the ones above it, unless it exists. The option `recursive` of Node.js tries
 * for ever where a file system refuses a folder with ENOENT, as /proc does.
 */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (getCode(error) !== "ENOENT" || above === path) throw error;
    // It may exist by now, because another process makes folders, too.
    await makeFolder(above);
    await makeOne(path);
  }
};
