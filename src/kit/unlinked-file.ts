import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomToken } from "./ids.ts";

/** Creates and unlinks a temporary file, so that the system frees it even when the process crashes. */
export const openUnlinkedFile = async (purpose: string): Promise<FileHandle> => {
  const path = join(tmpdir(), `${purpose}-${randomToken()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    await rm(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
};
