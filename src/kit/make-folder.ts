import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Returns why the folder cannot be made; undefined where it exists then. */
const tryToMake = async (path: string): Promise<unknown> => {
  try {
    await mkdir(path, { mode: 0o700 });
    return undefined;
  } catch (error) {
    return (await isFolder(path)) ? undefined : error;
  }
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/**
 * Makes a private folder (mode 0700) and the ones above it, unless it exists. The option `recursive` of Node.js tries
 * for ever where a file system refuses a folder with ENOENT, as /proc does.
 */
export const makeFolder = async (path: string): Promise<void> => {
  const first = await tryToMake(path);
  if (first === undefined) return;
  const above = dirname(path);
  if (!isMissing(first) || above === path) throw first;
  // It may exist by now, because another process makes folders, too.
  await makeFolder(above);
  const second = await tryToMake(path);
  if (second !== undefined) throw second;
};
