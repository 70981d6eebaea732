import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Where Linux shows what a process has open; other systems have no such place. */
export const OPEN_FILES = "/proc/self/fd";

/** What this process has open beneath a folder. */
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
