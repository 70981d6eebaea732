import { parse } from "node:path";
import { isMainThread } from "node:worker_threads";

/**
 * Gives the process another working folder if its own was removed, for example with a workspace of the host: without one
 * no thread starts. Relative paths name nothing then in any case.
 */
export const keepWorkingFolder = (): void => {
  // A thread cannot change the folder of its process.
  if (!isMainThread) return;
  try {
    // Node.js remembers the folder's name until the folder changes.
    process.chdir(".");
    process.cwd();
  } catch {
    process.chdir(parse(process.execPath).root);
  }
};
