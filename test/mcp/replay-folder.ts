import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const root = mkdtempSync(join(tmpdir(), "replay-"));

// A program that a test starts removes it. In a test, the folder lies in that of the run.
if (isMainThread) process.once("exit", () => rmSync(root, { recursive: true, force: true }));

/** Creates an empty folder for a replay guard. */
export const replayFolder = (): Promise<string> => mkdtemp(join(root, "one-"));
