import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** Returns a folder for the tests of a file, or of a `describe`: it is there before them, and removed after them. */
export const useFolder = (): string => {
  const folder = join(realpathSync(tmpdir()), `receivables-${randomBytes(6).toString("hex")}`);
  beforeAll(() => mkdir(folder, { mode: 0o700 }));
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
};
