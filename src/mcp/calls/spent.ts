import { mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, MINUTE } from "../../kit/clock.ts";
import { createFileOnce } from "../../kit/once.ts";

/** Remembers what may happen once. */
export type Spent = {
  /** True for the first who claims the id, in whatever process; it is remembered until it expires. */
  claim(id: string, expiresAt: number): Promise<boolean>;
};

const SWEEP_EVERY_MS = MINUTE;
// Past its expiry a token is refused anyway; the margin covers clocks of several processes.
const MARGIN_MS = MINUTE;

const isId = (id: string): boolean => /^[\w-]{16,64}$/.test(id);

/** A folder as the memory: creating a file that must not exist is one act for all processes on it. */
export const createSpentFolder = (folder: string, now: Clock): Spent => {
  let sweepAt = 0;

  const sweep = async () => {
    if (now() < sweepAt) return;
    sweepAt = now() + SWEEP_EVERY_MS;
    const names = await readdir(folder);
    const old = names.filter((name) => Number.parseInt(name, 10) + MARGIN_MS < now());
    await Promise.all(old.map((name) => unlink(join(folder, name)).catch(() => {})));
  };

  return {
    async claim(id, expiresAt) {
      if (!isId(id)) throw new TypeError("not an id of a confirmation");
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await sweep();
      return createFileOnce(join(folder, `${Math.trunc(expiresAt)}-${id}`), "");
    },
  };
};
