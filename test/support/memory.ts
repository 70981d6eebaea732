import { setTimeout as pause } from "node:timers/promises";
import type { Running } from "./cli.ts";

/** Set for a process whose memory a test measures. */
export const PROBED = {
  NODE_OPTIONS: `--import ${new URL("memory-probe.ts", import.meta.url).href}`,
};

export type Memory = { heapUsed: number; external: number; rss: number };

const LINE = /^\{"event":"memory".*\}$/gm;
const linesOf = ({ texts }: Running): string[] => texts.stderr.match(LINE) ?? [];

/** Has a process collect its garbage, and returns the memory that is left, in bytes. */
export const measureMemory = async (running: Running): Promise<Memory> => {
  const before = linesOf(running).length;
  process.kill(running.pid, "SIGUSR2");
  for (let waited = 0; linesOf(running).length === before; waited += 20) {
    if (waited > 30_000) throw new Error("the process is silent");
    await pause(20);
  }
  return JSON.parse(linesOf(running).at(-1) ?? "") as Memory;
};

/** The lines on standard error that are not measurements. */
export const logOf = ({ texts }: Running): string[] =>
  texts.stderr.split("\n").filter((line) => line !== "" && !line.startsWith('{"event":"memory"'));
