import { describe, expect, it } from "vitest";
import { importsOf, resolved, type Source, sources } from "./support/sources.ts";
import { verifies } from "./support/verifies.ts";

const files = new Map(sources("src").map((file) => [file.path, file]));

/** The worker threads that read files of strangers, as programs and not as modules. */
const WORKERS = ["src/platform/scan/worker.ts", "src/mcp/files/worker.ts"];

/** The code that parses files of strangers, which can take seconds. */
const PARSING =
  /^src\/(?:platform\/scan\/(?:formats\/|inspect|contained)|mcp\/files\/(?:formats\/|read-file|collect))/;

const importedBy = (file: Source): string[] =>
  importsOf(file)
    .filter(({ kind, specifier }) => kind !== "type" && specifier.startsWith("."))
    .map(({ specifier }) => resolved(file.path, specifier));

/** The files that a file loads, directly or through others. */
const loadedBy = (from: string): Set<string> => {
  const seen = new Set<string>([from]);
  for (const path of seen) {
    const file = files.get(path);
    for (const target of file === undefined ? [] : importedBy(file)) seen.add(target);
  }
  return seen;
};

describe("files of strangers", () => {
  const parsing = (from: string): string[] =>
    [...loadedBy(from)].filter((path) => PARSING.test(path));

  verifies("FL-01", "WK-21");
  it("are parsed in worker threads alone, so that they never hold the event loop", () => {
    for (const worker of WORKERS) expect(parsing(worker).length, worker).toBeGreaterThan(5);
    const inWorkers = new Set(WORKERS.flatMap((worker) => [...loadedBy(worker)]));
    const others = [...files.keys()].filter((path) => !inWorkers.has(path));
    const direct = others.filter((path) =>
      importedBy(files.get(path) ?? { path, text: "" }).some((target) => PARSING.test(target)),
    );
    expect(direct).toEqual([]);
    expect(parsing("src/platform/scan/built-in.ts")).toEqual([]);
    expect(parsing("src/mcp/files/thread.ts")).toEqual([]);
    expect(parsing("src/bin/cli.ts")).toEqual([]);
  });
});
