import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const root = mkdtempSync(join(tmpdir(), "replay-"));

const remove = (): void => {
  rmSync(root, { recursive: true, force: true });
};

// Programs that tests start use this too; there vitest's hooks do not exist.
if (isMainThread) process.once("exit", remove);
else (await import("vitest")).afterAll(remove);

/** Creates an empty folder for a replay guard; it is removed when the test file, or program, ends. */
export const replayFolder = (): Promise<string> => mkdtemp(join(root, "one-"));
