import { randomUUID } from "node:crypto";
import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a whole private file unless there is one by that name; tells whether it did. Of several processes exactly
 * one succeeds, and nobody ever sees half a file: a hard link appears at once or not at all.
 */
export const createOnce = async (path: string, content: string): Promise<boolean> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    await file.close();
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    await file.close().catch(() => {});
    await unlink(draft).catch(() => {});
  }
};
