import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const REQUIRED_BYTES = 3 * 1024 ** 3;

/**
 * Returns where the fast tests put databases and files: in memory if the machine offers enough of it, because flushes
 * to disk take most of the time of many tests, else the system's folder.
 */
export const findFastFolder = (): string => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= REQUIRED_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
};

/** Creates a folder below `parent` for everything that a run of the tests writes; it is removed when the run ends. */
export const createRunFolder = (parent: string): string => {
  const folder = mkdtempSync(join(parent, "receivables-tests-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
