import { randomUUID } from "node:crypto";
import { link, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { getCode } from "./error.ts";
import { makeFolder } from "./make-folder.ts";

/**
 * Creates a private file (mode 0600) unless one exists, and returns whether it did. Of several processes exactly one
 * succeeds, and no reader sees half a file, because a hard link to the finished draft appears atomically.
 */
export const createFileOnce = async (path: string, content: string): Promise<boolean> => {
  await makeFolder(dirname(path));
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    await file.close();
    await link(draft, path);
    return true;
  } catch (error) {
    if (getCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    await file.close().catch(() => {});
    await unlink(draft).catch(() => {});
  }
};
