import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./support/sources.ts";

type Diagnostic = { filename: string; message: string };

/** Returns the linter's report. The linter exits with status 1 if it has found something. */
const runLinter = (config: string): string => {
  const bin = join(ROOT, "node_modules/.bin/oxlint");
  const args = ["-c", config, "-f", "json", "src", "tools", "prompts"];
  try {
    return execFileSync(bin, args, { cwd: ROOT, encoding: "utf8" });
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (typeof stdout === "string" && stdout.startsWith("{")) return stdout;
    throw error;
  }
};

/** Lists the functions with more than `max` lines, as the linter counts them. */
const listFunctionsLongerThan = (max: number): string[] => {
  const folder = mkdtempSync(join(tmpdir(), "receivables-shape-"));
  try {
    const config = join(folder, "oxlint.json");
    const rules = { "max-lines-per-function": ["error", { max, IIFEs: true }] };
    writeFileSync(config, JSON.stringify({ categories: { correctness: "off" }, rules }));
    const { diagnostics } = JSON.parse(runLinter(config)) as { diagnostics: Diagnostic[] };
    return diagnostics.map(({ filename, message }) => `${filename}: ${message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

// The linter's configuration refuses functions of more than 80 lines.
it("has at most five functions of more than 60 lines", () => {
  const long = listFunctionsLongerThan(60);
  expect(long.length, long.join("\n")).toBeLessThanOrEqual(5);
});

it("finds long functions", () => {
  expect(listFunctionsLongerThan(20).length).toBeGreaterThan(5);
});
