import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const root = mkdtempSync(join(tmpdir(), "spent-"));

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

/** An empty folder for what has been spent; it goes when the test file ends. */
export const spentFolder = (): Promise<string> => mkdtemp(join(root, "one-"));
