import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, MINUTE } from "../../../kit/clock.ts";
import { getCode } from "../../../kit/error.ts";
import { makeFolder } from "../../../kit/make-folder.ts";
import { createFileOnce } from "../../../kit/once.ts";

/** Replay guard for single-use tokens. */
export type ReplayGuard = {
  /**
   * True for the first claim of an id, in any process that shares the guard. Ids are kept until they expire, with the
   * content of the claim. Claims that exclude each other have the same expiry.
   */
  claim(id: string, expiresAt: number, content?: string): Promise<boolean>;
  /** Returns the content of a claim; undefined if there is none. */
  read(id: string): Promise<string | undefined>;
  /** Makes an id free again. */
  release(id: string): Promise<void>;
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

  const findFiles = async (id: string): Promise<string[]> => {
    const names = await readdir(folder).catch((error: unknown) => {
      if (getCode(error) === "ENOENT") return [];
      throw error;
    });
    const own = names.filter((name) => name.slice(name.indexOf("-") + 1) === id);
    return own
      .filter((name) => Number.parseInt(name, 10) > now())
      .map((name) => join(folder, name));
  };

  return {
    async claim(id, expiresAt, content = "") {
      if (!isId(id)) throw new TypeError("not the id of a single-use token");
      await makeFolder(folder);
      await sweep();
      return createFileOnce(join(folder, `${Math.trunc(expiresAt)}-${id}`), content);
    },
    async read(id) {
      const [path] = await findFiles(id);
      if (path === undefined) return undefined;
      return readFile(path, "utf8").catch((error: unknown) => {
        if (getCode(error) === "ENOENT") return undefined;
        throw error;
      });
    },
    async release(id) {
      const paths = await findFiles(id);
      await Promise.all(paths.map((path) => unlink(path).catch(() => {})));
    },
  };
};
