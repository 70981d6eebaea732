import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
const REQUIRED_BYTES = 3 * 1024 ** 3;

/**
 * Returns where the tests put databases and files: in memory if the machine offers enough of it, because flushes to
 * disk take most of the time of many tests, else the system's folder.
 */
export const temporaryFolder = (): string => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= REQUIRED_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
};
