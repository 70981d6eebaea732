import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Runs the simulation in a process of its own, because it replaces functions of Node. */
export const runSimulation = async (
  options: readonly string[],
): Promise<{ output: string; errors: string; code: number | null }> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "run.ts"), ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { output, errors, code: code as number | null };
};
