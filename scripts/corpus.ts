/* Runs the built-in checks over the files of a folder, and reports refusals, time and memory by type. */
import { openAsBlob, readdirSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { builtInScanner } from "../src/platform/scan/built-in.ts";
import type { Verdict } from "../src/platform/scan/port.ts";
import { findExtension } from "../src/contract/file-types.ts";

const MIB = 1024 * 1024;
const SAMPLE_MS = 10;

type Result = { path: string; type: string; verdict: Verdict; ms: number; extraBytes: number };

const [folder] = process.argv.slice(2);
if (folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
  const fault = folder === undefined ? "" : `${folder} is not a folder. `;
  process.stderr.write(`${fault}Usage: npm run corpus -- FOLDER\n`);
  process.exit(2);
}

const listFiles = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return listFiles(inner);
    return entry.isFile() && findExtension(entry.name) !== undefined ? [inner] : [];
  });

const scan = async (path: string): Promise<Result> => {
  const { size } = statSync(path);
  const rest = process.memoryUsage().rss;
  let most = rest;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, SAMPLE_MS);
  const start = performance.now();
  try {
    const verdict = await builtInScanner.scan({
      fileName: basename(path),
      size,
      open: async () => (await openAsBlob(path)).stream(),
    });
    const ms = performance.now() - start;
    return { path, type: findExtension(path) ?? "", verdict, ms, extraBytes: most - rest };
  } finally {
    clearInterval(timer);
  }
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const summarize = (results: readonly Result[]): string[] => {
  const refused = results.filter(({ verdict }) => verdict.status !== "Available");
  const warned = results.filter(
    ({ verdict }) => verdict.status === "Available" && verdict.warnings.length > 0,
  );
  const times = results.map(({ ms }) => ms);
  const share = (100 * refused.length) / results.length;
  return [
    String(results.length),
    `${refused.length} (${share.toFixed(1)} %)`,
    String(warned.length),
    median(times).toFixed(0),
    Math.max(...times).toFixed(0),
    (Math.max(...results.map(({ extraBytes }) => extraBytes)) / MIB).toFixed(0),
  ];
};

const print = (cells: readonly string[]): void => {
  const [first = "", ...rest] = cells;
  process.stdout.write(`${first.padEnd(8)}${rest.map((cell) => cell.padStart(13)).join("")}\n`);
};

// Creates the thread and loads the parsers, so that the first file is measured like the others.
await builtInScanner.scan({
  fileName: "a.txt",
  size: 1,
  open: () => Promise.resolve(new Blob(["a"]).stream()),
});
const results: Result[] = [];
for (const path of listFiles(folder)) results.push(await scan(path));
for (const { path, verdict, ms } of results) {
  const shown = relative(folder, path);
  if (verdict.status === "Available") {
    for (const { code, message } of verdict.warnings) {
      process.stdout.write(`warning  ${shown}: ${code} ${message}\n`);
    }
  } else {
    const reasons = verdict.failureReasons.map(({ code, message }) => `${code} ${message}`);
    process.stdout.write(`${verdict.status}  ${shown} (${ms.toFixed(0)} ms): ${reasons.join()}\n`);
  }
}
if (results.length > 0) {
  print(["type", "files", "refused", "with warning", "median ms", "max ms", "max MiB"]);
  const types = Map.groupBy(results, ({ type }) => type);
  for (const [type, list] of types) print([type, ...summarize(list)]);
  print(["all", ...summarize(results)]);
}
