import { parse } from "node:path";

/**
 * Gives the process another working folder if its own was removed, for example with a workspace of the host: without one
 * no thread starts. Relative paths name nothing then in any case. Not for threads, which cannot change the folder.
 */
export const keepWorkingFolder = (): void => {
  try {
    // Node.js remembers the folder's name until the folder changes.
    process.chdir(".");
    process.cwd();
  } catch {
    process.chdir(parse(process.execPath).root);
  }
};
