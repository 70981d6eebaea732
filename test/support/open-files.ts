import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Linux lists a process's open files here; other systems have no such folder. */
export const OPEN_FILES = "/proc/self/fd";

/** Lists the files below a folder that this process has open. */
export const openFiles = (folder: string): string[] =>
  readdirSync(OPEN_FILES)
    .map((name) => {
      try {
        return readlinkSync(join(OPEN_FILES, name));
      } catch {
        return "";
      }
    })
    .filter((path) => path.startsWith(folder));
