import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, MINUTE } from "../../../kit/clock.ts";
import { makeFolder } from "../../../kit/make-folder.ts";
import { createFileOnce } from "../../../kit/once.ts";

/** Replay guard for single-use tokens. */
export type ReplayGuard = {
  /** True for the first claim of an id, in any process that shares the guard. Ids are kept until they expire. */
  claim(id: string, expiresAt: number): Promise<boolean>;
};

const SWEEP_EVERY_MS = MINUTE;
// An expired token is refused anyway; the margin covers clocks that differ between processes.
const MARGIN_MS = MINUTE;

const isId = (id: string): boolean => /^[\w-]{16,64}$/.test(id);

/** A replay guard in a folder: exclusive creation of a file is atomic for all processes that share it. */
export const createReplayFolder = (folder: string, now: Clock): ReplayGuard => {
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
      if (!isId(id)) throw new TypeError("not the id of a single-use token");
      await makeFolder(folder);
      await sweep();
      return createFileOnce(join(folder, `${Math.trunc(expiresAt)}-${id}`), "");
    },
  };
};
