import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Makes a private folder (mode 0700) and the ones above it, unless it exists. The option `recursive` of Node.js tries
 * for ever where a file system refuses a folder with ENOENT, as /proc does.
 */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (await isFolder(path)) return;
    const above = dirname(path);
    const isAboveMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isAboveMissing || above === path || (await isFolder(above))) throw error;
    await makeFolder(above);
    await makeFolder(path);
  }
};
