import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Benchmark, Line } from "../measure.ts";

const run = promisify(execFile);
const PROGRAM = join(import.meta.dirname, "../run.ts");
const MOST_SECONDS = 1800;
const MOST_BYTES = 2 ** 24;

/** A benchmark's line, or the reason why it has none. */
export type Outcome = { benchmark: Benchmark; line?: Line; failure?: string };

// The message stays out of the document: it may name files of the machine.
const explain = (error: unknown): string => {
  const { killed, stderr = "" } = error as { killed?: boolean; stderr?: string };
  if (killed === true) return `not measured: took longer than ${MOST_SECONDS} s`;
  process.stderr.write(stderr);
  return "not measured: failed";
};

/**
 * Runs benchmarks that share records in a process of their own, so that their failure and their memory are their own.
 */
export const measureTogether = async (
  benchmarks: readonly Benchmark[],
  runs: number,
): Promise<Outcome[]> => {
  const names = benchmarks.map(({ name }) => name);
  const args = [PROGRAM, ...names, "--only", "--json", "--runs", String(runs)];
  const limits = { timeout: MOST_SECONDS * 1000, maxBuffer: MOST_BYTES };
  try {
    const { stdout } = await run(process.execPath, args, limits);
    const { lines } = JSON.parse(stdout) as { lines: Line[] };
    return benchmarks.map((benchmark) => {
      const line = lines.find(({ name }) => name === benchmark.name);
      return line === undefined
        ? { benchmark, failure: "not measured: failed" }
        : { benchmark, line };
    });
  } catch (error) {
    const failure = explain(error);
    return benchmarks.map((benchmark) => ({ benchmark, failure }));
  }
};
