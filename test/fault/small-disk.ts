import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A file system of its own with a fixed size. */
export type SmallDisk = { folder: string; fill(): void; free(): void; remove(): void };

const MIB = 1024 * 1024;

/** Mounts a disk of this size in memory; undefined where this process may not mount. */
export const mountSmallDisk = (folder: string, mebibytes: number): SmallDisk | undefined => {
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder], {
      stdio: "ignore",
    });
  } catch {
    return undefined;
  }
  chmodSync(folder, 0o755);
  const filler = join(folder, "filler");
  return {
    folder,
    fill() {
      for (const size of [MIB, 4096]) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove: () => void execFileSync("umount", ["-l", folder]),
  };
};
